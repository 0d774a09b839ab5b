"""Bodies whose content is known from a seed and a size, so that any part of one can be checked."""

BLOCK = 1 << 16


def block(seed, number):
    return f"{seed} {number} ".encode().ljust(64, b".") * (BLOCK // 64)


def parts(seed, size):
    for number in range((size + BLOCK - 1) // BLOCK):
        yield block(seed, number)[:size - number * BLOCK]


def part(seed, begin, end):
    """The bytes of a body from one offset to another."""
    blocks = b"".join(block(seed, n) for n in range(begin // BLOCK, (end + BLOCK - 1) // BLOCK))
    return blocks[begin % BLOCK:begin % BLOCK + end - begin]


class Check:
    """Compares a body with what it must be while it arrives."""

    def __init__(self, seed, begin=0):
        self.seed, self.begin, self.position = seed, begin, begin

    def add(self, data):
        end = self.position + len(data)
        if data != part(self.seed, self.position, end):
            raise ValueError(f"other content between {self.position} and {end} of {self.seed}")
        self.position = end

    @property
    def count(self):
        return self.position - self.begin
