/// A string that is hidden when a value that contains it is printed, logged or dumped.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The string itself. Read it only to send it or to sign with it.
    package let text: String

    /// Wraps a string.
    package init(_ text: String) {
        self.text = text
    }

    /// The word `hidden`.
    package var description: String { "hidden" }
    /// The word `hidden`.
    package var debugDescription: String { description }
    /// An empty mirror.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
