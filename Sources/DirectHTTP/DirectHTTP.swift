// The first file of DirectHTTP replaces this one.
