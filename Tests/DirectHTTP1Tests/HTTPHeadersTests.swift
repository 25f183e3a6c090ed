import DirectHTTP1
import Testing

@Suite("Header fields")
struct HeadersTests {
    @Test("Headers keep the order, the duplicates and the spelling of their names")
    func orderAndSpelling() {
        let headers: HTTPHeaders = ["B": "1", "a": "2", "b": "3", "B": "1"]
        #expect(headers.map(\.name) == ["B", "a", "b", "B"])
        #expect(headers.map(\.value) == ["1", "2", "3", "1"])
    }

    @Test("A name is found whatever its case, and only as a whole")
    func lookupByName() {
        let headers: HTTPHeaders = ["Content-Type": "text/plain", "X": "y"]
        #expect(headers["content-TYPE"] == "text/plain")
        #expect(headers.contains("CONTENT-type"))
        #expect(!headers.contains("Content"))
        #expect(!headers.contains("Content-Types"))
        #expect(!headers.contains(""))
        #expect(headers["Y"] == nil)
    }

    @Test("Only ASCII letters are equal in both cases")
    func asciiCase() {
        let headers: HTTPHeaders = ["a[b": "1", "A@": "2"]
        #expect(headers["A{B"] == nil)
        #expect(headers["a`"] == nil)
        #expect(headers["a@"] == "2")
    }

    @Test("The subscript reads the first value, and setting it replaces or removes all fields of the name")
    func subscriptReplaces() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3"]
        #expect(headers["a"] == "1")
        headers["a"] = "4"
        #expect(Array(headers) == [.init(name: "B", value: "2"), .init(name: "a", value: "4")])
        headers["b"] = nil
        #expect(Array(headers) == [.init(name: "a", value: "4")])
        headers["c"] = "5"
        #expect(headers.count == 2)
    }

    @Test("Each field of a name gives its own value, in order")
    func valuesByName() {
        let headers: HTTPHeaders = ["Set-Cookie": "a=1, b", "X": "", "set-cookie": "c=2"]
        #expect(headers.values(for: "SET-COOKIE") == ["a=1, b", "c=2"])
        #expect(headers.values(for: "x") == [""])
        #expect(headers.values(for: "y") == [])
    }

    @Test("A change to a copy does not change the original")
    func copiesAreIndependent() {
        var first: HTTPHeaders = ["A": "1"]
        var second = first
        second.add("B", "2")
        first.remove("a")
        #expect(first.isEmpty)
        #expect(second.map(\.name) == ["A", "B"])
        second.remove("B")
        second.add("C", "3")
        #expect(second.map(\.value) == ["1", "3"])
    }

    @Test("Storage grows beyond what was reserved")
    func growth() {
        var headers = HTTPHeaders()
        headers.reserve(fields: 3, bytes: 10)
        let long = String(repeating: "x", count: 1000)
        for number in 0..<300 { headers.add("Name-\(number)", "\(number)\(long)") }
        #expect(headers.count == 300)
        for number in 0..<300 { #expect(headers["name-\(number)"] == "\(number)\(long)") }
    }

    @Test("A value that is not UTF-8 is read as Latin-1")
    func latin1Values() {
        var headers = HTTPHeaders()
        headers.add("A", bytes: [0x67, 0x72, 0xfc, 0x6e, 0xff])
        headers.add("B", bytes: Array("grün".utf8))
        #expect(headers["a"] == "gr\u{fc}n\u{ff}")
        #expect(headers["b"] == "grün")
        #expect(headers.valueBytes(at: 0) == [0x67, 0x72, 0xfc, 0x6e, 0xff])
    }

    @Test("Equality respects order and values, and ignores the case of names")
    func equality() {
        let one: HTTPHeaders = ["A": "1", "B": "2"]
        #expect(one == ["a": "1", "b": "2"])
        #expect(one.hashValue == (["a": "1", "b": "2"] as HTTPHeaders).hashValue)
        #expect(one != ["B": "2", "A": "1"])
        #expect(one != ["A": "1", "B": "x"])
        #expect(one != ["A": "1"])
        #expect(HTTPHeaders() == [:])
        var emptied: HTTPHeaders = ["A": "1"]
        emptied.remove("A")
        #expect(emptied == HTTPHeaders())
        #expect(emptied.hashValue == HTTPHeaders().hashValue)
    }

    @Test("The description shows names and no values")
    func descriptionHidesValues() {
        let headers: HTTPHeaders = ["Authorization": "secret", "A": "b"]
        #expect("\(headers)" == "[Authorization, A]")
    }

    @Test("Names, list members and value bytes are found without making text")
    func byteLookup() {
        let headers: HTTPHeaders = ["Vary": "a", "Connection": "x,  Keep-Alive ,", "connection": "close"]
        #expect(headers.index(of: "connection") == 1)
        #expect(headers.index(of: "connection", from: 2) == 2)
        #expect(headers.index(of: "upgrade") == nil)
        #expect(headers.lists("close", in: "connection"))
        #expect(headers.lists("keep-alive", in: "connection"))
        #expect(!headers.lists("keep", in: "connection"))
        var seen: [UInt8] = []
        headers.withValue(at: 0) { value in
            for index in value.indices { seen.append(value[index]) }
        }
        #expect(seen == Array("a".utf8))
    }

    @Test("A field with a forbidden byte is not sent, wherever the byte is")
    func bytesOfSentFields() {
        for byte in UInt8.min...UInt8.max {
            for place in 0...20 {
                var headers = HTTPHeaders()
                headers.add("A", bytes: Array(repeating: 0x61, count: place) + [byte])
                let isText = byte == 9 || byte >= 32 && byte != 127
                let trailers = try? written(200) { buffer throws(HTTP1Error) in
                    try unsafe RequestWriter.writeLastChunk(trailers: headers, into: buffer)
                }
                let head = try? writtenHead(headers)
                #expect((trailers != nil) == isText && (head != nil) == isText, "\(byte) at \(place)")
            }
        }
    }
}
