// SwiftUI as far as Examples/iOS uses it, written from Apple's documents: `scripts/apple app` compiles the app with it.
@_exported import Foundation

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}
extension Never: View { public var body: Never { return fatalError() } }
public protocol Leaf: View where Body == Never {}
extension Leaf { public var body: Never { return fatalError() } }
public struct Group: Leaf {}
extension Optional: View where Wrapped: View { public var body: Never { return fatalError() } }

@resultBuilder
public enum ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Group { Group() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
}

@MainActor @preconcurrency
public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
}
extension Never: Scene {}
@resultBuilder
public enum SceneBuilder { public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content } }
public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { return fatalError() }
}
@MainActor @preconcurrency
public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}
extension App { public static func main() {} }

@propertyWrapper
public struct State<Value> {
    public init(wrappedValue value: Value) {}
    public init(initialValue value: Value) {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
}

public struct Text: Leaf { public init<Content: StringProtocol>(_ content: Content) {} }
public struct Label: Leaf { public init<Content: StringProtocol>(_ title: Content, systemImage: String) {} }
public struct TabView<Content: View>: Leaf { public init(@ViewBuilder content: () -> Content) {} }
public enum HorizontalAlignment { case leading }
public struct VStack<Content: View>: Leaf {
    public init(alignment: HorizontalAlignment = .leading, @ViewBuilder content: () -> Content) {}
}
public struct Section<Content: View, Footer: View>: Leaf {
    public init(@ViewBuilder content: () -> Content, @ViewBuilder footer: () -> Footer) {}
}
public struct List<Content: View>: Leaf {
    public init(@ViewBuilder content: () -> Content) {}
    public init<Data: RandomAccessCollection, ID: Hashable>(
        _ data: Data,
        id: KeyPath<Data.Element, ID>,
        @ViewBuilder rowContent: @escaping (Data.Element) -> Content
    ) {}
}
public enum Font: Sendable { case footnote }
extension View {
    public func task(@_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void) -> some View { Group() }
    public func refreshable(action: @escaping @Sendable () async -> Void) -> some View { Group() }
    public func tabItem<Content: View>(@ViewBuilder _ label: () -> Content) -> some View { Group() }
    public func font(_ font: Font?) -> some View { Group() }
    public func id<ID: Hashable>(_ id: ID) -> some View { Group() }
}

@MainActor @preconcurrency
public protocol UIViewRepresentable: View where Body == Never {
    associatedtype UIViewType
    typealias Context = UIViewRepresentableContext<Self>
    func makeUIView(context: Context) -> UIViewType
    func updateUIView(_ view: UIViewType, context: Context)
}
extension UIViewRepresentable { public var body: Never { return fatalError() } }
public struct UIViewRepresentableContext<Representable> {}
