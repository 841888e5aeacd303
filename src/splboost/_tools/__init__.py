"""What all of the package uses: compiling, threads, progress, signals, files."""
