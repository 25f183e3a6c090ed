"""Tests of how mutants find their places."""

import unittest

from anchors import Anchors, TableError

DIALLER = '''
/// Dials. A brace in a comment: {
struct Dialler {
    let text = "a } in \\(names["x"] ?? "{") text", other = #"\\("#
    func dial(_ limits: Limits, to end: Int = { 5 }()) -> Int {
        /* stall: limits.connect */
        let first = wait(
            stall: limits.connect
        )
        return first + wait(stall: limits.total)
    }
    func dial(again limits: Limits) { wait(stall: limits.total) }

    struct Race {
        var time: Int { limits.race }
        class func make() { func inner() { limits.inner } }
    }
}
'''
OTHERS = '''
extension HTTPClient.Request { var isSafe: Bool { true } }
protocol Dials { func dial(_ limits: Limits); var time: Int { get } }
private func loose<T: P>(_ value: T) where T.X == Int { value.call() }
'''


def anchors(**changes):
    texts = {"Sources/A/Dialler.swift": DIALLER, "Sources/A/Others.swift": OTHERS}
    return Anchors({**texts, **changes})


class AnchorsTests(unittest.TestCase):
    def piece(self, where, at, found=None):
        found = found or anchors()
        place = found.find(where, at)
        return found.sources[place.path][place.start:place.end]

    def line(self, where, at, found=None):
        found = found or anchors()
        place = found.find(where, at)
        return place.path, found.sources[place.path].count("\n", 0, place.start) + 1

    def refusal(self, where, at, found=None):
        with self.assertRaises(TableError) as caught:
            (found or anchors()).find(where, at)
        return str(caught.exception)

    def test_finds_a_fragment_across_lines_and_comments(self):
        self.assertEqual(self.piece("Dialler.dial", "wait(stall: |limits.connect|)"), "limits.connect")
        self.assertEqual(self.line("Dialler.dial", "|limits.connect|")[1], 8)

    def test_labels_tell_members_of_one_name_apart(self):
        self.assertIn("ambiguous", self.refusal("Dialler.dial", "|limits.total|"))
        self.assertEqual(self.line("Dialler.dial(again:)", "|limits.total|")[1], 12)
        self.assertEqual(self.line("Dialler.dial(_:to:)", "|limits.total|")[1], 10)

    def test_finds_the_beginning_of_a_body(self):
        self.assertEqual(self.line("Dialler.dial(_:to:)", "||")[1], 5)
        self.assertEqual(self.line("loose", "||")[1], 4)
        self.assertIn("not there", self.refusal("Dials.dial", "||"))

    def test_finds_members_of_nested_types_and_extensions(self):
        self.assertEqual(self.piece("Race.time", "|limits.race|"), "limits.race")
        self.assertEqual(self.piece("Dialler.Race.make", "|limits.inner|"), "limits.inner")
        self.assertEqual(self.piece("Request.isSafe", "|true|"), "true")
        self.assertEqual(self.piece("HTTPClient.Request.isSafe", "|true|"), "true")

    def test_a_word_is_a_whole_one(self):
        self.assertIn("not there", self.refusal("Race.time", "|limits.rac|"))

    def test_survives_a_move_a_new_name_of_the_file_and_of_a_variable(self):
        moved = "extension Dialler {" + DIALLER[DIALLER.index("    func dial(_"):DIALLER.index("    func dial(again")] + "}"
        left = DIALLER.replace(moved[len("extension Dialler {"):-1], "")
        changed = Anchors({"Sources/B/Dialler.swift": left, "Sources/B/Dialler+Dial.swift": moved.replace("first", "one")})
        self.assertEqual(self.line("Dialler.dial", "|limits.connect|", changed), ("Sources/B/Dialler+Dial.swift", 4))

    def test_says_where_the_fragment_is(self):
        self.assertIn("it is in Dialler.Race.time (Sources/A/Dialler.swift:15)", self.refusal("Dialler.dial", "|limits.race|"))
        self.assertIn("the fragment is in Dialler.Race.time", self.refusal("Dialler.gone", "|limits.race|"))

    def test_says_what_is_nearest(self):
        self.assertIn("the nearest are Dialler.Race.time", self.refusal("Dialler.Race.times", "|nowhere|"))
        self.assertIn("the nearest is 'stall: limits.connect'", self.refusal("Dialler.dial", "stall: |limit.connect|"))

    def test_needs_two_bars(self):
        self.assertIn("two bars", self.refusal("Race.time", "limits.race"))


if __name__ == "__main__":
    unittest.main()
