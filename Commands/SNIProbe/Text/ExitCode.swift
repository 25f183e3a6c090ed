/// The exit codes of the command. They are curl's if curl has a code for the cause.
enum ExitCode {
    static let passed: Int32 = 0
    static let severalReasons: Int32 = 1
    static let usage: Int32 = 64
    static let noInput: Int32 = 66
    static let bug: Int32 = 70
    static let unwritable: Int32 = 74
    static let interrupted: Int32 = 130

    /// The code that a shell reports for a process ended by this signal.
    static func interrupted(by signal: Int32) -> Int32 { 128 + signal }
}
