"""Counts words with the library that is written in C."""

import ctypes
import pathlib
import sys

_library = ctypes.CDLL(str(pathlib.Path(__file__).parent.parent / "build" / "libwords.so"))
_library.words_count.argtypes = [ctypes.c_char_p]


def count(text):
    """How many words the text holds."""
    return _library.words_count(text.encode())


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {count(pathlib.Path(name).read_text())} words")
