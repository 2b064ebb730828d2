import unittest

from fairshare import split_by_weight, split_evenly


class SplitTest(unittest.TestCase):
    def test_an_even_amount(self):
        self.assertEqual(split_evenly(900, 3), [300, 300, 300])

    def test_the_remainder_goes_to_the_first(self):
        self.assertEqual(split_evenly(1000, 3), [334, 333, 333])

    def test_nothing_is_lost(self):
        for cents in range(200):
            for parts in range(1, 9):
                self.assertEqual(sum(split_evenly(cents, parts)), cents)

    def test_weights(self):
        self.assertEqual(split_by_weight(100, [1, 1, 1]), [34, 33, 33])

    def test_no_parts(self):
        with self.assertRaises(ValueError):
            split_evenly(1, 0)
