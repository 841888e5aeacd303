/* Preloaded into a process: lets its n-th write below a folder go wrong.

   Writes half of the bytes and then kills the process, or lets the disk be full from
   then on. The clock stands still meanwhile, so that what is written can be compared.
   Calls that libc makes of itself, as those of fwrite, do not pass here. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OFF, KILL, FULL };
enum { PASS, STRIKE, AFTER };

static int mode = OFF;
static long nth;
static atomic_long count;
static char folder[PATH_MAX];

void torture_start(const char *below, long when, int how) {
    snprintf(folder, sizeof folder, "%s", below);
    nth = when;
    count = 0;
    mode = how;
}

long torture_stop(void) { mode = OFF; return count; }

static int is_below(const char *path) {
    size_t n = strlen(folder);
    return !strncmp(path, folder, n) && (path[n] == '/' || !path[n]);
}

static int turn(void) {
    long now = ++count;
    return now < nth ? PASS : now == nth ? STRIKE : AFTER;
}

static int turn_of_path(const char *path) {
    char whole[2 * PATH_MAX] = "";
    if (!mode) return PASS;
    if (*path != '/' && getcwd(whole, PATH_MAX)) strcat(whole, "/");
    strncat(whole, path, PATH_MAX - 1);
    return is_below(whole) ? turn() : PASS;
}

static int turn_of_file(int fd) {
    char link[64], path[PATH_MAX];
    if (!mode) return PASS;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return PASS;
    path[n] = 0;
    return is_below(path) ? turn() : PASS;
}

static void die(void) { for (;;) kill(getpid(), SIGKILL); }

#define REAL(name) static typeof(&name) real; \
    if (!real) real = (typeof(&name))dlsym(RTLD_NEXT, #name)

/* A call that writes n bytes: half of them, and nothing more. */
#define WRITES(name, parameters, fd, n, whole, half) \
    ssize_t name parameters { \
        REAL(name); \
        int when = turn_of_file(fd); \
        if (when == PASS) return whole; \
        if (when == STRIKE) { \
            ssize_t done = (n) / 2 ? half : 0; \
            if (mode == KILL) die(); \
            if (done > 0) return done; \
        } \
        errno = ENOSPC; \
        return -1; \
    }

WRITES(write, (int fd, const void *p, size_t n), fd, n, real(fd, p, n),
       real(fd, p, n / 2))
WRITES(pwrite, (int fd, const void *p, size_t n, off_t at), fd, n,
       real(fd, p, n, at), real(fd, p, n / 2, at))
WRITES(pwrite64, (int fd, const void *p, size_t n, off64_t at), fd, n,
       real(fd, p, n, at), real(fd, p, n / 2, at))
WRITES(writev, (int fd, const struct iovec *v, int m), fd, m ? v->iov_len : 0,
       real(fd, v, m), syscall(SYS_write, fd, v->iov_base, v->iov_len / 2))
WRITES(pwritev, (int fd, const struct iovec *v, int m, off_t at), fd,
       m ? v->iov_len : 0, real(fd, v, m, at),
       syscall(SYS_pwrite64, fd, v->iov_base, v->iov_len / 2, at))
WRITES(sendfile, (int fd, int from, off_t *at, size_t n), fd, n,
       real(fd, from, at, n), real(fd, from, at, n / 2))
WRITES(sendfile64, (int fd, int from, off64_t *at, size_t n), fd, n,
       real(fd, from, at, n), real(fd, from, at, n / 2))
WRITES(copy_file_range,
       (int from, off64_t *a, int fd, off64_t *b, size_t n, unsigned flags), fd, n,
       real(from, a, fd, b, n, flags), real(from, a, fd, b, n / 2, flags))

/* Another call; one that frees space works on a full disk, too. */
#define ACTS(name, parameters, turn_of, frees, whole) \
    int name parameters { \
        REAL(name); \
        int when = turn_of; \
        if (when != PASS && mode == KILL) die(); \
        if (when == PASS || frees) return whole; \
        errno = ENOSPC; \
        return -1; \
    }

ACTS(fsync, (int fd), turn_of_file(fd), 0, real(fd))
ACTS(fdatasync, (int fd), turn_of_file(fd), 0, real(fd))
ACTS(ftruncate, (int fd, off_t n), turn_of_file(fd), 1, real(fd, n))
ACTS(ftruncate64, (int fd, off64_t n), turn_of_file(fd), 1, real(fd, n))
ACTS(rename, (const char *a, const char *b), turn_of_path(b), 0, real(a, b))
ACTS(renameat, (int d, const char *a, int e, const char *b), turn_of_path(b), 0,
     real(d, a, e, b))
ACTS(renameat2, (int d, const char *a, int e, const char *b, unsigned flags),
     turn_of_path(b), 0, real(d, a, e, b, flags))
ACTS(unlink, (const char *a), turn_of_path(a), 1, real(a))
ACTS(unlinkat, (int d, const char *a, int flags), turn_of_path(a), 1,
     real(d, a, flags))

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(clock_gettime);
    if (!mode || clock != CLOCK_REALTIME) return real(clock, now);
    *now = (struct timespec){1700000000, 0};
    return 0;
}

time_t time(time_t *now) {
    REAL(time);
    if (!mode) return real(now);
    if (now) *now = 1700000000;
    return 1700000000;
}
