#if canImport(FoundationNetworking)
internal import DirectIO
internal import Dispatch
internal import Foundation
internal import FoundationNetworking

/// What a URLProtocol has to know of the task it works for, and FoundationNetworking does not tell: the queue on which
/// its client has to be called, the session, and the body of an upload.
///
/// It is looked up by the names of stored properties, as of Swift 6.3. Where a name is not found the answer is nothing,
/// and whoever asks takes the careful way. To be made and asked on the task's own queue, where `startLoading` runs.
struct SessionInside {
    /// Where the registry of the session's tasks may be touched, which every call to the client does.
    let queue: DispatchQueue?
    let session: URLSession?
    /// Who is asked and told, unless there is a completion handler.
    let delegate: (any URLSessionTaskDelegate)?
    let task: URLSessionTask
    private let mirror: Mirror?

    init(_ task: URLSessionTask) {
        self.task = task
        mirror = Mirror(reflecting: task).level(of: URLSessionTask.self)
        queue = mirror?.child("workQueue") as? DispatchQueue
        session = mirror?.child("session").flatMap(unwrapped) as? URLSession
        let own = mirror?.child("_taskDelegate").flatMap(unwrapped) as? any URLSessionTaskDelegate
        delegate = own ?? session?.delegate as? any URLSessionTaskDelegate
    }

    enum Body {
        case none
        case data(Data)
        case file(URL)
        case stream(InputStream)
        /// The session's delegate has it.
        case elsewhere
    }

    /// What the task was made to upload; nothing if that cannot be found out.
    var body: Body? {
        guard let known = mirror?.child("knownBody") else { return nil }
        guard let body = unwrapped(known) else { return .elsewhere }
        guard let content = Mirror(reflecting: body).children.first else {
            return "\(body)" == "none" ? Body.none : nil
        }
        switch content.value {
        case let data as DispatchData: return .data(Data(data))
        case let file as URL: return .file(file)
        case let stream as InputStream: return .stream(stream)
        default: return nil
        }
    }

    /// Whether the bytes of the response go to a delegate one by one: a completion handler would get the last only.
    var isStreaming: Bool {
        guard let session, delegate is any URLSessionDataDelegate, task is URLSessionDataTask,
            let registry = Mirror(reflecting: session).child("taskRegistry"),
            let behaviours = Mirror(reflecting: registry).child("behaviours") as? [Int: Any],
            let behaviour = behaviours[task.taskIdentifier]
        else { return false }
        return "\(behaviour)" == "callDelegate"
    }
}

extension Mirror {
    fileprivate func level(of type: Any.Type) -> Mirror? {
        var level: Mirror? = self
        while let found = level, found.subjectType != type { level = found.superclassMirror }
        return level
    }

    /// The stored property of that name. Where it stands is remembered, so that no other need be read.
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

private struct MirrorPlace: Hashable {
    let type: ObjectIdentifier
    let name: String
}

private let knownPlaces = Locked<[MirrorPlace: Int]>([:])

private func unwrapped(_ optional: Any) -> Any? {
    let mirror = Mirror(reflecting: optional)
    return mirror.displayStyle == .optional ? mirror.children.first?.value : optional
}
#endif
