internal import DirectCore
internal import DirectHTTP

/// Converts non-ASCII names to their form in DNS, for a hint to the user.
///
/// This is Punycode (RFC 3492) alone, without the tables of IDNA, so the result is only suggested and never
/// used.
enum Punycode {
    /// Returns the name with non-ASCII labels as `xn--…`, or `nil` if the result is not a valid name.
    static func name(_ text: String) -> String? {
        var labels: [String] = []
        for label in text.lowercased().split(separator: ".", omittingEmptySubsequences: false) {
            guard !label.allSatisfy(\.isASCII) else {
                labels.append(String(label))
                continue
            }
            guard let encoded = encode(label.unicodeScalars.map(\.value)), encoded.count <= 59 else {
                return nil
            }
            labels.append("xn--" + encoded)
        }
        // The ASCII labels have not been checked yet.
        return (try? DomainName(labels.joined(separator: ".")))?.text
    }

    /// Encodes one label (RFC 3492, section 6.3).
    private static func encode(_ scalars: [UInt32]) -> String? {
        guard scalars.count <= 63 else { return nil }
        var output = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
        let basic = output.count
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var (next, delta, bias, handled) = (UInt32(0x80), 0, 72, basic)
        while handled < scalars.count {
            guard let lowest = scalars.filter({ $0 >= next }).min() else { return nil }
            delta += Int(lowest - next) * (handled + 1)
            next = lowest
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func append(_ delta: Int, bias: Int, to output: inout [UInt8]) {
        var rest = delta
        var position = 36
        while true {
            let threshold = min(max(position - bias, 1), 26)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
        output.append(digit(rest))
    }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var steps = 0
        while delta > 455 {
            delta /= 35
            steps += 36
        }
        return steps + 36 * delta / (delta + 38)
    }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(value < 26 ? 97 + value : 22 + value)
    }
}
