#if canImport(FoundationNetworking)
internal import DirectCore
internal import DirectIO
internal import Dispatch
internal import Foundation
internal import FoundationNetworking

/// The parts of a `URLSessionTask` that its URLProtocol needs and FoundationNetworking does not publish: the
/// queue on which its client has to be called, the session, and the body of an upload.
///
/// They are looked up by the names of five stored properties, as of Swift 6.3. If a name is not found, the
/// value is `nil`, and the caller has to do without it. Create and use it on the task's own queue, on which
/// `startLoading` runs.
struct SessionInside {
    /// The queue on which the registry of the session's tasks may be used, which every call to the client
    /// does.
    let queue: DispatchQueue?
    /// The session of the task.
    let session: URLSession?
    /// The task itself.
    let task: URLSessionTask
    private let mirror: Mirror?

    /// Looks into a task.
    init(_ task: URLSessionTask) {
        self.task = task
        mirror = Mirror(reflecting: task).level(of: URLSessionTask.self)
        queue = mirror?.child("workQueue") as? DispatchQueue
        session = mirror?.child("session").flatMap(unwrapped) as? URLSession
    }

    /// The body of an upload.
    enum Body {
        case data(DispatchData)
        case file(URL)
        case stream(InputStream)
        /// The session's delegate has the body.
        case ofDelegate
    }

    /// The body of the upload task; `nil` if it cannot be found out.
    var body: Body? {
        guard let known = mirror?.child("knownBody") else { return nil }
        guard let body = unwrapped(known) else { return .ofDelegate }
        switch Mirror(reflecting: body).children.first?.value {
        case let data as DispatchData: return .data(data)
        case let file as URL: return .file(file)
        case let stream as InputStream: return .stream(stream)
        default: return nil
        }
    }

    /// Whether the session passes the response's bytes on to a delegate as they arrive. A completion handler
    /// would get the last piece only. It is a value of the behaviour, and only a behaviour without values has
    /// none.
    var isStreaming: Bool {
        guard let session, task.delegate is any URLSessionDataDelegate, task is URLSessionDataTask,
            let registry = Mirror(reflecting: session).child("taskRegistry"),
            let behaviours = Mirror(reflecting: registry).child("behaviours") as? [Int: Any],
            let behaviour = behaviours[task.taskIdentifier]
        else { return false }
        let mirror = Mirror(reflecting: behaviour)
        return mirror.displayStyle == .enum && mirror.children.isEmpty
    }
}

extension Mirror {
    /// Returns the mirror of the given class in the hierarchy.
    fileprivate func level(of type: Any.Type) -> Mirror? {
        var level: Mirror? = self
        while let found = level, found.subjectType != type { level = found.superclassMirror }
        return level
    }

    /// Returns the stored property of that name. Its offset is remembered, so that the others need not be
    /// read again.
    fileprivate func child(_ name: String) -> Any? {
        let place = MirrorPlace(type: ObjectIdentifier(subjectType), name: name)
        if let offset = knownPlaces.withLock({ $0[place] }), offset < children.count {
            let child = children[children.index(children.startIndex, offsetBy: offset)]
            if child.label == name { return child.value }
        }
        for (offset, child) in children.enumerated() where child.label == name {
            knownPlaces.withLock { $0[place] = offset }
            return child.value
        }
        return nil
    }
}

/// A stored property of a type.
private struct MirrorPlace: Hashable {
    let type: ObjectIdentifier
    let name: String
}

private let knownPlaces = Locked<[MirrorPlace: Int]>([:])

/// Returns the value inside an optional, or `nil`; returns any other value unchanged.
private func unwrapped(_ optional: Any) -> Any? {
    let mirror = Mirror(reflecting: optional)
    return mirror.displayStyle == .optional ? mirror.children.first?.value : optional
}
#endif
