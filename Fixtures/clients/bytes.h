// Bytes, and the texts that stand for them in the lines of a client in C.
#pragma once
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    char *data;
    size_t length, read;
};

static void fail(const char *what) {
    fprintf(stderr, "libcurl: %s\n", what);
    exit(2);
}

static void append(struct bytes *bytes, const char *data, size_t length) {
    bytes->data = realloc(bytes->data, bytes->length + length + 1);
    if (!bytes->data) fail("no memory");
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
    bytes->data[bytes->length] = 0;
}

// In the lines, a character stands for a byte; both directions are conversions between UTF-8 and Latin-1.
static json_t *text_of(const char *data, size_t length) {
    struct bytes text = {0};
    append(&text, "", 0);
    for (size_t index = 0; index < length; index++) {
        unsigned char byte = data[index];
        char pair[2] = {(char)(0xc0 | byte >> 6), (char)(0x80 | (byte & 0x3f))};
        append(&text, byte < 0x80 ? (char *)&byte : pair, byte < 0x80 ? 1 : 2);
    }
    json_t *found = json_stringn(text.data, text.length);
    free(text.data);
    return found;
}

static struct bytes bytes_of(json_t *text) {
    struct bytes found = {0};
    const char *data = json_string_value(text);
    size_t length = json_string_length(text);
    append(&found, "", 0);
    for (size_t index = 0; index < length; index++) {
        unsigned char byte = data[index];
        if (byte > 0xc3) fail("a character stands for no byte");
        if (byte >= 0x80) byte = (unsigned char)(byte << 6 | ((unsigned char)data[++index] & 0x3f));
        append(&found, (char *)&byte, 1);
    }
    return found;
}
