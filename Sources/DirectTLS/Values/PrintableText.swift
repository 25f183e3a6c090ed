internal import DirectCore

/// Returns the text with what could deceive its reader escaped.
func printable(_ text: String) -> String { text.printable }
