/// A mistake in the command line or in a file that it names, or something that cannot be done, with the exit
/// status for it.
struct Mistake: Error {
    let line: String
    var status: Int32 = 64
}
