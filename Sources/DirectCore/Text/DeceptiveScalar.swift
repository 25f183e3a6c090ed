extension Unicode.Scalar {
    /// Whether this is a control, bidirectional, invisible or unassigned character: one that could move the
    /// cursor of a terminal, or hide or reorder the text around it.
    package var isDeceptive: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        case .nonspacingMark, .enclosingMark: false
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
