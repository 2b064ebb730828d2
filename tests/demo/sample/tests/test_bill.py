import unittest

from fairshare import Bill


class BillTest(unittest.TestCase):
    def test_shares_add_up_to_the_total(self):
        bill = Bill()
        bill.add("tea", 1000, ["ann", "bo", "cy"])
        bill.add("cake", 701, ["ann", "bo"])
        self.assertEqual(sum(bill.shares().values()), bill.total())

    def test_somebody_has_to_pay(self):
        with self.assertRaises(ValueError):
            Bill().add("tea", 100, [])
