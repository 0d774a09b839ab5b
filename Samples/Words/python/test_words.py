import unittest

import words


class WordsTests(unittest.TestCase):
    def test_words_are_counted(self):
        self.assertEqual(words.count(""), 0)
        self.assertEqual(words.count(" a bc  d\n"), 3)


if __name__ == "__main__":
    unittest.main()
