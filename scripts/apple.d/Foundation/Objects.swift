// Foundation's classes in Apple's form, as far as the sources use them. Where this differs from
// swift-corelibs-foundation, a comment names Apple's header or document. A class without `Sendable` here has
// it in neither.

public protocol NSObjectProtocol: AnyObject {}

open class NSObject: NSObjectProtocol, Hashable, CustomStringConvertible {
    public init() {}
    open func copy() -> Any { fatalError() }
    open func mutableCopy() -> Any { fatalError() }
    open var description: String { fatalError() }
    public static func == (one: NSObject, other: NSObject) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
}

public let NSUnderlyingErrorKey: String = ""
public let NSLocalizedDescriptionKey: String = ""
public let NSURLErrorFailingURLErrorKey: String = ""

open class FileManager: NSObject, @unchecked Sendable {
    open class var `default`: FileManager { fatalError() }
}

extension FileManager {
    public var temporaryDirectory: URL { fatalError() }
}

// NSProcessInfo.h: NS_SWIFT_SENDABLE.
open class ProcessInfo: NSObject, @unchecked Sendable {
    open class var processInfo: ProcessInfo { fatalError() }
    open var processName: String { fatalError() }
}

open class Stream: NSObject {
    public enum Status: UInt { case notOpen, opening, open, reading, writing, atEnd, closed, error }

    open func open() {}
    open func close() {}
    open var streamStatus: Status { fatalError() }
    open var streamError: (any Error)? { fatalError() }
}

open class InputStream: Stream {
    open func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int { fatalError() }
}

open class OperationQueue: NSObject, @unchecked Sendable {
    open func addOperation(_ block: @escaping @Sendable () -> Void) {}
}

open class Progress: NSObject, @unchecked Sendable {
    open var totalUnitCount: Int64 {
        get { fatalError() }
        set {}
    }
    open var completedUnitCount: Int64 {
        get { fatalError() }
        set {}
    }
    open var isCancelled: Bool { fatalError() }
    open var cancellationHandler: (@Sendable () -> Void)? {
        get { fatalError() }
        set {}
    }
}

// CoreFoundation, which Foundation exports.
open class CFRunLoop {}
public func CFRunLoopGetCurrent() -> CFRunLoop! { fatalError() }
public func CFRunLoopWakeUp(_ rl: CFRunLoop!) {}

open class RunLoop: NSObject {
    public struct Mode: RawRepresentable, Hashable, Sendable {
        public init(rawValue: String) { fatalError() }
        public var rawValue: String { fatalError() }
        public static let `default` = Mode(rawValue: "")
    }

    // NSRunLoop.h: NS_SWIFT_UNAVAILABLE_FROM_ASYNC.
    @available(*, noasync)
    open class var current: RunLoop { fatalError() }
    open var currentMode: Mode? { fatalError() }
    // NSRunLoop.h: the block is NS_SWIFT_SENDABLE.
    open func perform(inModes modes: [Mode], block: @escaping @Sendable () -> Void) {}
}
