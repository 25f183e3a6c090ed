internal import CommandKit
internal import DirectCore
internal import DirectProxy

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The entry point of `direct-proxy`.
@main
struct Main {
    static func main() {
        StandardDescriptors.hold()
        do throws(Mistake) {
            let options = try Options(ChildEnvironment.words)
            if options.wantsHelp { exit(say(CommandOption.helpText, to: 1)) }
            if options.wantsVersion { exit(say("direct-proxy \(PackageVersion.text)\n", to: 1)) }
            // After the files, which may be pipes that only a signal ends the wait for; and before there is
            // another thread that could take a signal: the package's own take none.
            exit(try Run(options, Signals()).run())
        } catch {
            _ = say("direct-proxy: \(error.line)\n", to: 2)
            exit(error.status)
        }
    }

    private static func say(_ text: String, to descriptor: Int32) -> Int32 {
        writeAll(Array(text.utf8), to: descriptor) == 0 ? 0 : 74
    }
}
