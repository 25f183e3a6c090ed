/// The files of a cache's folder in the former format, which knew no asker, as a client with a jar (`/alice`,
/// with the cookie `sid=alice`) and one without have written them: `/plain`, `/vary` (for a language), `/basic`
/// (with `Authorization`), `/cookie` (with a caller's own) of `https://old.test`. Fresh until 2090.
enum FormerFolder {
    /// The contents in Base64, by name.
    static let files: [String: String] = [
        "1fdbf8301a916385b155960ec6210043.r":
            "REhDQUNIRTGsP34Ete7Cdh8AAAAAAAAAjgAAAAAAAACFY5EaMPjbH0MAIcYOllWxAAAAAAAAAAAAAAAAAAAA"
            + "APDsC2sAAAAA8OwLawAAAADIAAEAAAAAAwANAENhY2hlLUNvbnRyb2wbAHByaXZhdGUsIG1heC1hZ2U9MjAw"
            + "MDAwMDAwMA4AQ29udGVudC1MZW5ndGgCADMxBABEYXRlHQBTdW4sIDI5IE5vdiAyMDI2IDA5OjE0OjI0IEdN"
            + "VG9sZCBwYWdlIG9mIHNpZD1hbGljZSBhdCAvYWxpY2U4pffB4bDdGA==",
        "2c1aaf20fe903bbba40ca5763e9479bf.r":
            "REhDQUNIRTGgnRTbb778DhwAAAAAAAAAjgAAAAAAAAC7O5D+IK8aLL95lD52pQykAAAAAAAAAAAAAAAAAAAA"
            + "APDsC2sAAAAA8OwLawAAAADIAAEAAAAAAwANAENhY2hlLUNvbnRyb2wbAHByaXZhdGUsIG1heC1hZ2U9MjAw"
            + "MDAwMDAwMA4AQ29udGVudC1MZW5ndGgCADI4BABEYXRlHQBTdW4sIDI5IE5vdiAyMDI2IDA5OjE0OjI0IEdN"
            + "VG9sZCBwYWdlIG9mIG5vYm9keSBhdCAvcGxhaW7dFPHwR8e/2w==",
        "6b913c7dd1527b4e3e3edfb9d753526e-22871c3e424a0c83.r":
            "REhDQUNIRTGZWc8S8ksMBiAAAAAAAAAAlgAAAAAAAABOe1LRfTyRa25SU9e53z4+g2uvseqXviwXIcXH+Bj6"
            + "7PDsC2sAAAAA8OwLawAAAADIAAEBAAYAY29va2llAAADAA0AQ2FjaGUtQ29udHJvbBsAcHJpdmF0ZSwgbWF4"
            + "LWFnZT0yMDAwMDAwMDAwDgBDb250ZW50LUxlbmd0aAIAMzIEAERhdGUdAFN1biwgMjkgTm92IDIwMjYgMDk6"
            + "MTQ6MjQgR01Ub2xkIHBhZ2Ugb2Ygc2lkPWNhcm9sIGF0IC9jb29raWVcuEtFPSrQXw==",
        "6b913c7dd1527b4e3e3edfb9d753526e.v":
            "REhDVkFSWTGQYovO8w2usU57UtF9PJFrblJT17nfPj6ULY+FxgR9zgEGAGNvb2tpZQ==",
        "8ccb4ed7e119ba2568e792c38553ddc8-6500162fbf7b477e.r":
            "REhDQUNIRTEgrU8afrxgiBsAAAAAAAAAtgAAAAAAAAAluhnh107LjMjdU4XDkudoUcG+gJYAd/xs8nJFAitc"
            + "4vDsC2sAAAAA8OwLawAAAADIAAEBAA8AYWNjZXB0LWxhbmd1YWdlAAAEAA0AQ2FjaGUtQ29udHJvbBsAcHJp"
            + "dmF0ZSwgbWF4LWFnZT0yMDAwMDAwMDAwBABWYXJ5DwBBY2NlcHQtTGFuZ3VhZ2UOAENvbnRlbnQtTGVuZ3Ro"
            + "AgAyNwQARGF0ZR0AU3VuLCAyOSBOb3YgMjAyNiAwOToxNDoyNCBHTVRvbGQgcGFnZSBvZiBub2JvZHkgYXQg"
            + "L3ZhcnkQ7y0DYNvZuw==",
        "8ccb4ed7e119ba2568e792c38553ddc8.v":
            "REhDVkFSWTH9xkZux3+SXCW6GeHXTsuMyN1ThcOS52gStQn6LT1chwEPAGFjY2VwdC1sYW5ndWFnZQ==",
        "fda811be51d3dcb32699366fe17f339d-4cf8bb0069dce0fb.r":
            "REhDQUNIRTGUWPzzfcdmySAAAAAAAAAAnQAAAAAAAACz3NNRvhGo/Z0zf+FvNpkmDMVoA+4DTfcTAr8S0CdO"
            + "RPDsC2sAAAAA8OwLawAAAADIAAEBAA0AYXV0aG9yaXphdGlvbgAAAwANAENhY2hlLUNvbnRyb2wbAHByaXZh"
            + "dGUsIG1heC1hZ2U9MjAwMDAwMDAwMA4AQ29udGVudC1MZW5ndGgCADMyBABEYXRlHQBTdW4sIDI5IE5vdiAy"
            + "MDI2IDA5OjE0OjI0IEdNVG9sZCBwYWdlIG9mIEJhc2ljIFlUcGkgYXQgL2Jhc2ljG6r9UV2qd/0=",
        "fda811be51d3dcb32699366fe17f339d.v":
            "REhDVkFSWTGwhGOIzuWJN7Pc01G+Eaj9nTN/4W82mSbo4mN70Jy2CAENAGF1dGhvcml6YXRpb24=",
    ]
}
