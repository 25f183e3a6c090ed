import DirectHTTP
import Foundation

struct DateQuestion: Decodable {
    let id: String
    let test: String
}

struct DateAnswer: Encodable {
    let id: String
    let date: String?
}

extension SuiteAdapter {
    /// How the client reads a date of a cookie.
    static func reading(of question: DateQuestion) -> DateAnswer {
        let moment = CookieDate.parse(Array(question.test.utf8))
        return DateAnswer(id: question.id, date: moment.map(text))
    }

    private static func text(_ moment: UnixTime) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(moment.seconds)))
    }
}
