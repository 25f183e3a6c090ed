// Programs that move from URLSession need the client, its settings and its errors too.
@_exported public import DirectHTTP
