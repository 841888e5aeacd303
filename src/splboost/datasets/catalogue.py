"""What is known of the data sets of the SPLBoost paper.

Its Table I lists 17 sets, under the names and in the variants of M. Fernández-Delgado,
E. Cernadas, S. Barro and D. Amorim, "Do we need hundreds of classifiers to solve real
world classification problems?", JMLR 15, 2014. Three more entries are other variants
of these sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CC_BY = "CC BY 4.0"
AUTHORS = (
    "the collection of Fernández-Delgado et al., "
    "http://persoal.citius.usc.es/manuel.fernandez.delgado/papers/jmlr/data.tar.gz"
)
DELVE = "DELVE, University of Toronto, https://www.cs.toronto.edu/~delve/data/"
_UCI = "UCI repository, https://archive.ics.uci.edu/dataset/"


@dataclass(frozen=True)
class Figures:
    """What Table I of the paper says of a set."""

    rows: int
    columns: int
    majority: float  # share of the largest class, in percent


@dataclass(frozen=True)
class OpenML:
    """The copy of a set on OpenML, and how to turn it into ours.

    Its columns are ours in the same order, under other names. Its names for classes are
    known by how often they occur, since no two classes of a set are equally frequent.
    """

    id: int
    differs: str
    dropped: tuple[str, ...] = ()
    first_are_last: int = 0  # so many of their first rows are our last
    # Our label by the number of rows of theirs, where they have more classes than we
    labels: Mapping[int, str] = field(default_factory=dict)
    # Our word by the number of rows with their code, for columns that they encode; a
    # column that is not named here is coded as the one before it
    words: Mapping[str, Mapping[int, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class UCIDataSet:
    """What is known of a data set.

    Attributes
    ----------
    title : str
    columns : tuple of str
        Names of the features.
    classes : dict {label: int}
        Rows of each class; the labels are strings or ints.
    sha256 : str or None
        Of the file's contents, that is of the CSV inside the gzip file: how a file was
        compressed does not matter. None if no such file was at hand.
    source, licence : str
    categorical : tuple of str
        The features that are categories.
    missing : int
        Number of cells without a value.
    groups : dict {group: int} or None
        Where several rows belong together, the number of each group's, in row order.
    openml : OpenML or None
        The same data on OpenML, if it has them.
    by_hand : str
        Without a copy on OpenML: why, and what to make the file from.
    paper : Figures or None
        Table I. None for a variant that the paper does not list.
    difference : str
        Why the figures of the paper are not those of the data, where they are not.
    note : str
        What else one should know.
    """

    title: str
    columns: tuple[str, ...]
    classes: Mapping[str, int] | Mapping[int, int]
    sha256: str | None
    source: str
    licence: str = CC_BY
    categorical: tuple[str, ...] = ()
    missing: int = 0
    groups: Mapping[str, int] | None = None
    openml: OpenML | None = None
    by_hand: str = ""
    paper: Figures | None = None
    difference: str = ""
    note: str = ""

    @property
    def rows(self) -> int:
        return sum(self.classes.values())

    @property
    def majority(self) -> float:
        """Share of the largest class, in percent."""
        return 100 * max(self.classes.values()) / self.rows


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _numbered(prefix: str, numbers: range) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in numbers)


_BANK = _names(
    "age job marital education default balance housing loan contact day month duration "
    "campaign pdays previous poutcome"
)
_BANK_WORDS = _names(
    "job marital education default housing loan contact month poutcome"
)
_BANK_NOTE = (
    "unknown is a category of its own. The duration of the call is known only with its "
    "outcome."
)
_CONNECT_4 = tuple(f"{file}{rank}" for file in "abcdefg" for rank in range(1, 7))
_CONNECT_4_WORDS = {"a1": {24982: "b", 20324: "o", 22251: "x"}}
_BRIDGES = _names("RIVER LOCATION ERECTED PURPOSE LENGTH LANES CLEAR-G")
_BRIDGES_WORDS = _names("RIVER ERECTED PURPOSE LENGTH CLEAR-G")
_BRIDGES_BY_HAND = (
    "OpenML's bridges (327 and 328) lack three of the 108 rows; take RIVER to T-OR-D "
    f"of bridges.data.version2 from the {_UCI}18, "
)
_NO_NAMES = "columns are V1, V2, ..., classes 1 and 2"
_SPAM_WORDS = _names(
    "make address all 3d our over remove internet order mail receive will people "
    "report addresses free business email you credit your font 000 money hp hpl george "
    "650 lab labs telnet 857 data 415 85 technology 1999 parts pm direct cs meeting "
    "original project re edu table conference"
)
_SUBJECTS = _names(
    "S01 S02 S04 S05 S06 S07 S08 S10 S13 S16 S17 S18 S19 S20 S21 S22 S24 S25 S26 S27 "
    "S31 S32 S33 S34 S35 S37 S39 S42 S43 S44 S49 S50"
)

UCI_CATALOGUE: dict[str, UCIDataSet] = {
    "adult": UCIDataSet(
        "Adult: does a person earn more than 50 000 dollars a year?",
        _names(
            "age workclass fnlwgt education education-num marital-status occupation "
            "relationship race sex capital-gain capital-loss hours-per-week "
            "native-country"
        ),
        {"<=50K": 37155, ">50K": 11687},
        "b3e329cbea759e4bb08ead4ded2ccd0abff2c669622f1b0024214c83fbd787cd",
        f"{_UCI}2",
        categorical=_names(
            "workclass education marital-status occupation relationship race sex "
            "native-country"
        ),
        missing=6465,
        openml=OpenML(1590, "UCI's test part comes first", first_are_last=16281),
        paper=Figures(48842, 14, 75.9),
        difference=(
            "75.9 % is the share in UCI's training part, 24720 of the first 32561 "
            "rows; of all rows 76.1 % are <=50K."
        ),
    ),
    "bank": UCIDataSet(
        "Bank marketing: does a client subscribe a term deposit?",
        _BANK,
        {"no": 39922, "yes": 5289},
        "3d52d40c478cfe4b1509322d3c57b1a141166866d6dc79f348ae06dd7e90bbc7",
        f"{_UCI}222 (bank-full.csv)",
        categorical=_BANK_WORDS,
        openml=OpenML(1461, _NO_NAMES),
        paper=Figures(45211, 17, 88.5),
        difference=(
            "17 counts the class as a feature. 88.5 % is the share in the sample of "
            "4521 rows that UCI offers beside the full set (here bank_fd4521); of all "
            "rows 88.3 % are no."
        ),
        note=_BANK_NOTE,
    ),
    "bank_fd4521": UCIDataSet(
        "Bank marketing, the sample that Fernández-Delgado et al. used",
        _BANK,
        {"no": 4000, "yes": 521},
        "260d72de4cc1420553cb612179b20b57196c503f6d3e72501bce4932a403c9fa",
        f"{_UCI}222 (bank.csv)",
        categorical=_BANK_WORDS,
        openml=OpenML(1558, _NO_NAMES),
        note=_BANK_NOTE,
    ),
    "blood": UCIDataSet(
        "Blood transfusion service center: did a donor give blood in March 2007?",
        (
            "Recency (months)",
            "Frequency (times)",
            "Monetary (c.c. blood)",
            "Time (months)",
        ),
        {0: 570, 1: 178},
        "341d913738185155bb4dd36f858210f3966bd545c303446c9a84a11e32ae7530",
        f"{_UCI}176",
        openml=OpenML(1464, _NO_NAMES),
        paper=Figures(748, 4, 76.2),
        note="215 rows repeat an earlier one. Monetary is 250 times Frequency.",
    ),
    "connect-4": UCIDataSet(
        "Connect-4 after eight moves: does the first player lose?",
        _CONNECT_4,
        {"draw_or_win": 50922, "loss": 16635},
        "cc255c3c655b8981a9860ddc1af78f0abc616d2a67036f2e110cdc558a294414",
        f"{_UCI}26",
        categorical=_CONNECT_4,
        openml=OpenML(
            40668,
            "fields are 0, 1, 2, and there are three classes",
            labels={44473: "draw_or_win", 16635: "loss", 6449: "draw_or_win"},
            words=_CONNECT_4_WORDS,
        ),
        paper=Figures(67557, 42, 75.4),
        note="draw and win are one class, as the collection's reader makes them.",
    ),
    "connect-4_3class": UCIDataSet(
        "Connect-4 after eight moves, with its three classes",
        _CONNECT_4,
        {"win": 44473, "loss": 16635, "draw": 6449},
        "0322a81bd87c0dabdbe8124cd4a6857a28dbc1db342ea5007d5e3e375cff1143",
        f"{_UCI}26",
        categorical=_CONNECT_4,
        openml=OpenML(40668, "fields and classes are 0, 1, 2", words=_CONNECT_4_WORDS),
    ),
    "magic": UCIDataSet(
        "MAGIC gamma telescope: gamma ray (g) or hadron (h)? Simulated",
        _names("fLength fWidth fSize fConc fConc1 fAsym fM3Long fM3Trans fAlpha fDist"),
        {"g": 12332, "h": 6688},
        "292246a8d2c2e94e8706ad2670cd823eb1991361a2b728f6cca7ee72e9f7fb6b",
        f"{_UCI}159",
        openml=OpenML(1120, "there is a column ID", dropped=("ID",)),
        paper=Figures(19020, 10, 64.8),
    ),
    "miniboone": UCIDataSet(
        "MiniBooNE particle identification: electron neutrino or background?",
        _numbered("ParticleID_", range(50)),
        {"background": 93565, "signal": 36499},
        None,
        f"{_UCI}199",
        openml=OpenML(41150, "the class says whether signal is True"),
        paper=Figures(130064, 50, 71.9),
        note="-999 stands for a fit that failed.",
    ),
    "ozone": UCIDataSet(
        "Ozone level detection, one-hour peaks: an ozone day (1)?",
        (
            *_numbered("WSR", range(24)),
            *_names("WSR_PK WSR_AV"),
            *_numbered("T", range(24)),
            *_names("T_PK T_AV T85 RH85 U85 V85 HT85 T70 RH70 U70 V70 HT70 T50 RH50"),
            *_names("U50 V50 HT50 KI TT SLP SLP_ Precp"),
        ),
        {0: 2463, 1: 73},
        "16a8543b3ab55b6675001799ed273b6610ae1d3d7199db9dad6b8d3308f7403e",
        f"{_UCI}172 (onehr.data)",
        missing=14938,
        by_hand=(
            "OpenML's ozone-level-8hr (1487) is that of eight-hour peaks; take "
            f"onehr.data from the {_UCI}172, without the date"
        ),
        paper=Figures(2536, 72, 97.1),
        note="In order of time. Fernández-Delgado et al. put 0 for missing values.",
    ),
    "pima": UCIDataSet(
        "Pima Indians diabetes",
        _names("preg plas pres skin insu mass pedi age"),
        {0: 500, 1: 268},
        "3b208ecf7ba575cb4c1eecb6b98da4136d56653f53595daedf68ff3fc8decc8e",
        "NIDDK, formerly in the UCI repository",
        licence="public domain",
        openml=OpenML(37, "classes are tested_negative and tested_positive"),
        paper=Figures(768, 8, 65.1),
        note="0 in plas, pres, skin, insu and mass stands for a missing value.",
    ),
    "parkinsons": UCIDataSet(
        "Parkinsons: voice recordings of healthy people (0) and patients (1)",
        _names(
            "MDVP:Fo(Hz) MDVP:Fhi(Hz) MDVP:Flo(Hz) MDVP:Jitter(%) MDVP:Jitter(Abs) "
            "MDVP:RAP MDVP:PPQ Jitter:DDP MDVP:Shimmer MDVP:Shimmer(dB) Shimmer:APQ3 "
            "Shimmer:APQ5 MDVP:APQ Shimmer:DDA NHR HNR RPDE DFA spread1 spread2 D2 PPE"
        ),
        {1: 147, 0: 48},
        "76694f3b7fc9e6307d478a0b9a62a5a59ed913344ac58292253cc4cdea3d0b31",
        f"{_UCI}174",
        groups=dict.fromkeys(_SUBJECTS, 6) | dict.fromkeys(["S21", "S27", "S35"], 7),
        openml=OpenML(1488, f"{_NO_NAMES}; the subjects are not named"),
        paper=Figures(195, 22, 75.4),
        note="Recordings of 32 subjects: keep those of one on one side of a split.",
    ),
    "pb-T-OR-D": UCIDataSet(
        "Pittsburgh bridges: roadway through the bridge or on its deck?",
        _BRIDGES,
        {"THROUGH": 88, "DECK": 14},
        "c7d59277a4bdacef989dd92f5d8dbe4e0f1a0b49ead30e96bbbd638799bdb2bc",
        f"{_UCI}18 (bridges.data.version2)",
        categorical=_BRIDGES_WORDS,
        missing=42,
        by_hand=f"{_BRIDGES_BY_HAND}the first 102 rows, with THROUGH for ? in T-OR-D",
        paper=Figures(102, 4, 86.3),
        difference=(
            "The collection that the paper follows has 7 features here. (Of its 102 "
            "rows, the first of 108, four have no label at UCI and are THROUGH in it; "
            "pb-T-OR-D_clean has the 102 rows with a label.)"
        ),
    ),
    "pb-T-OR-D_clean": UCIDataSet(
        "Pittsburgh bridges, the rows with a label",
        _BRIDGES,
        {"THROUGH": 87, "DECK": 15},
        "f94dbd2eee55283abe84fe89d3bf324a9009ef7e3734b4ee8ba692fe4e627018",
        f"{_UCI}18 (bridges.data.version2)",
        categorical=_BRIDGES_WORDS,
        missing=36,
        by_hand=f"{_BRIDGES_BY_HAND}the 102 rows whose T-OR-D is not ?",
    ),
    "ringnorm": UCIDataSet(
        "Ringnorm, Breiman's normal within a wider one, as DELVE drew it",
        _numbered("A", range(1, 21)),
        {1: 3736, 0: 3664},
        "4cc4d907bd9f6be69e5c583953db2221aa1579f92b52dd77c39bd85b87e54cbb",
        DELVE,
        licence="free for research",
        openml=OpenML(1496, _NO_NAMES),
        paper=Figures(7400, 20, 50.5),
    ),
    "spambase": UCIDataSet(
        "Spambase: is an e-mail spam (1)?",
        (
            *(f"word_freq_{word}" for word in _SPAM_WORDS),
            *(f"char_freq_{sign}" for sign in ";([!$#"),
            *(f"capital_run_length_{what}" for what in ("average", "longest", "total")),
        ),
        {0: 2788, 1: 1813},
        "913198dc260892a152e5444fc060527eaaca48bfeed3483f01c06f8d42d72eb5",
        f"{_UCI}94",
        openml=OpenML(44, "signs have other names"),
        paper=Figures(4601, 57, 60.6),
        note="391 rows repeat an earlier one.",
    ),
    "titanic": UCIDataSet(
        "Titanic: who survived? Passengers and crew, by class, age and sex",
        ("class", "age", "sex"),
        {"no": 1490, "yes": 711},
        "8da7f0540d62b180c3ee6652b399d6cf6ef15455579763690148800e705a3d10",
        f"{DELVE}; R. J. Dawson, Journal of Statistics Education 3, 1995",
        licence="public",
        categorical=("class", "age", "sex"),
        openml=OpenML(
            40704,
            "words are numbers",
            words={
                "class": {325: "1st", 285: "2nd", 706: "3rd", 885: "crew"},
                "age": {2092: "adult", 109: "child"},
                "sex": {1731: "male", 470: "female"},
            },
        ),
        paper=Figures(2201, 3, 67.7),
        note="Only 24 rows differ from each other.",
    ),
    "oocMerl4D": UCIDataSet(
        "Oocytes of hake (Merluccius merluccius): does a cell show its nucleus (cn)?",
        _numbered("f", range(1, 42)),
        {"sn": 685, "cn": 337},
        "ee630c3e318c921d9d5dc5c59e8969c5c742f96666c7df2bfeeda2768f5a9d10",
        AUTHORS,
        licence="none stated",
        by_hand=(
            "OpenML does not have it; take the file that ends in _R.dat in the folder "
            f"oocytes_merluccius_nucleus_4d of {AUTHORS}, with sn for the class of 685 "
            "rows and cn for the other"
        ),
        paper=Figures(1022, 41, 68.7),
        difference=(
            "In the collection's own file 685 of 1022 rows are sn, which is 67.0 %; "
            "what 68.7 % refers to is not known."
        ),
        note="The features are standardised in the source, and have no names.",
    ),
    "st-german-credit": UCIDataSet(
        "Statlog German credit, all numbers: good (1) or bad (2)?",
        _numbered("N", range(1, 25)),
        {1: 700, 2: 300},
        "edce797f2dd9d332b66e7bd751044ecaf6b7433cb07d98782c6a3ef511946a27",
        f"{_UCI}144 (german.data-numeric)",
        by_hand=(
            "OpenML's credit-g (31) has the 20 original features; take "
            f"german.data-numeric from the {_UCI}144"
        ),
        paper=Figures(1000, 24, 70.0),
        note="UCI does not name the features.",
    ),
    "twonorm": UCIDataSet(
        "Twonorm, Breiman's two shifted normals, as DELVE drew it",
        _numbered("A", range(1, 21)),
        {0: 3703, 1: 3697},
        "29fcd16bfd12ba62fbc3f085fdd1d4ea583814c98048c851fceca3647051fb69",
        DELVE,
        licence="free for research",
        openml=OpenML(1507, _NO_NAMES),
        paper=Figures(7400, 20, 50.0),
    ),
    "vc-2classes": UCIDataSet(
        "Vertebral column: normal (NO) or abnormal (AB)?",
        _names(
            "pelvic_incidence pelvic_tilt lumbar_lordosis_angle sacral_slope "
            "pelvic_radius degree_spondylolisthesis"
        ),
        {"AB": 210, "NO": 100},
        "ba9f4d29c8dfde0fce92aba782387b1cc76ac378fa760583f32a57d9eae9bd16",
        f"{_UCI}212 (column_2C.dat)",
        openml=OpenML(1524, f"{_NO_NAMES}; 1523 is the set of three classes"),
        paper=Figures(310, 6, 67.7),
    ),
}
