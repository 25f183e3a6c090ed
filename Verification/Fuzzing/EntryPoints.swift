import Glibc

// libFuzzer has the function `main` of this program, and calls these two
// (https://llvm.org/docs/LibFuzzer.html). scripts/verify/fuzz builds and starts the program:
//
//     fuzz --list
//     FUZZ_TARGET=url fuzz [options of libFuzzer] [folders or files]
//
// The target comes from the environment, because libFuzzer starts this program again, with its own arguments,
// to merge folders and to shrink inputs.

/// Chooses the target, before the first input.
@_cdecl("LLVMFuzzerInitialize")
func initialize(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    if CommandLine.arguments.dropFirst().first == "--list" {
        for target in FuzzTarget.all { print(target.name) }
        exit(0)
    }
    guard let name = getenv("FUZZ_TARGET").map({ String(cString: $0) }),
        let target = FuzzTarget.all.first(where: { $0.name == name })
    else {
        print("FUZZ_TARGET has to name a target; --list prints the names")
        exit(2)
    }
    chosen = target.run
    return 0
}

/// Runs one input.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ base: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    // The copy has exactly this size, so that the address sanitizer sees a read behind its end.
    var choices = Choices([UInt8](UnsafeBufferPointer(start: base, count: count)))
    chosen(&choices)
    return 0
}

/// The target of this process. Set once, before the first input, and read by libFuzzer's only thread.
nonisolated(unsafe) private var chosen: @Sendable (inout Choices) -> Void = { _ in }
