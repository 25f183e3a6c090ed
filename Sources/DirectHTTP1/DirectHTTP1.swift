// The first file of DirectHTTP1 replaces this one.
