/// An unusable command line or file: the message, a hint and the exit code.
struct UsageError: Error, Equatable {
    var what: String
    var hint: String?
    var code = ExitCode.usage

    init(_ what: String, hint: String? = nil, code: Int32 = ExitCode.usage) {
        self.what = what
        self.hint = hint
        self.code = code
    }

    init(_ fault: TargetError) {
        let words = fault.words
        self.init(words.what, hint: words.hint)
    }

    /// Creates the error for a line of a file.
    init(_ fault: TargetError, in file: String, line: Int) {
        let words = fault.words
        self.init("\(PlainText.harmless(file, unicode: true)):\(line): \(words.what)", hint: words.hint)
    }

    /// The error for files without a target.
    static let noTargets = UsageError(
        "nothing to probe: there is no target in the files",
        code: ExitCode.noInput
    )

    /// The text for standard error.
    var text: String {
        "sni-probe: \(what)\n" + (hint.map { "hint: \($0)\n" } ?? "")
    }
}
