// What Swift sees of Examples/iOS/Shop/Feed.h by the bridging header.
import Foundation

enum Feed { static func text(of url: URL) async throws -> String { fatalError() } }
