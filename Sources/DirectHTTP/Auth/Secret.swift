/// A text that is not shown where what holds it is printed, logged or dumped.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// To be looked at only where it is sent or signed with.
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package var description: String { "hidden" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
