// The first file of DirectIO replaces this one.
