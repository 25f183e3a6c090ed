/// The files that are made of the table of options: the manual page and the completions of three shells.
enum GeneratedFiles {
    static func text(_ what: String) throws(UsageError) -> String {
        throw UsageError("there is nothing called \(quoted(what)) to generate")
    }
}
