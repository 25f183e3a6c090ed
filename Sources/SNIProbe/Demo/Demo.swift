/// A tour of the verdicts without a network.
enum Demo {
    static func run(_ options: Options) -> Int32 { 0 }
}
