internal import DirectCore

extension BlockingWork {
    /// The pool for the files of one folder: a mount that hangs stops no other folder.
    ///
    /// - Parameter path: The path of a file in it.
    package static func forFile(_ path: String) -> BlockingWork {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        return forFolder(String(path[..<end]))
    }

    /// The pool for the files of this folder, the same one as long as anything uses it.
    package static func forFolder(_ path: String) -> BlockingWork {
        folders.withLock { folders in
            if let known = folders[path]?.pool { return known }
            // One entry for each folder in use, and at most as many others.
            if folders.count >= 32, folders.count & (folders.count - 1) == 0 {
                folders = folders.filter { $0.value.pool != nil }
            }
            let pool = BlockingWork(
                threadLimit: 8,
                most: 32,
                patience: 1_000_000_000,
                longestWait: fiveMinutes
            )
            folders[path] = Folder(pool: pool)
            return pool
        }
    }

    private static let folders = Locked<[String: Folder]>([:])

    private struct Folder {
        weak var pool: BlockingWork?
    }
}
