/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "dbus-header.h"

struct reader {
        const char *bytes;
        size_t n, at;
        bool big, failed; /* @big: the most significant byte is first */
};

static const char *take(struct reader *reader, size_t n)
{
        const char *at = reader->bytes + reader->at;

        if (reader->failed || reader->n - reader->at < n) {
                reader->failed = true;
                return NULL;
        }
        reader->at += n;
        return at;
}

static uint8_t take8(struct reader *reader)
{
        const char *at = take(reader, 1);

        return at ? (uint8_t)*at : 0;
}

static void align(struct reader *reader, size_t to)
{
        (void)take(reader, (to - reader->at % to) % to);
}

static uint32_t take32(struct reader *reader)
{
        const unsigned char *at;

        align(reader, 4);
        at = (const unsigned char *)take(reader, 4);
        if (!at)
                return 0;
        return reader->big ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
                           : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* @length bytes and a NUL. */
static void take_text(struct reader *reader, size_t length, char *ret)
{
        const char *at = take(reader, length);

        if (take8(reader) != '\0' || (at && memchr(at, '\0', length)) || (ret && length >= DBUS_HEADER_TEXT))
                reader->failed = true;
        if (reader->failed || !ret)
                return;
        memcpy(ret, at, length);
        ret[length] = '\0';
}

static char *text_of(struct dbus_header *header, uint8_t field)
{
        switch (field) {
        case 1:
                return header->path;
        case 2:
                return header->interface;
        case 3:
                return header->member;
        case 6:
                return header->destination;
        case 7:
                return header->sender;
        default:
                return NULL;
        }
}

/* A byte that says which it is, and a variant. */
static void take_field(struct reader *reader, struct dbus_header *header)
{
        uint8_t field;
        char signature[2] = { 0 };

        align(reader, 8);
        field = take8(reader);
        if (take8(reader) != 1) { /* fields of more than one value there are none */
                reader->failed = true;
                return;
        }
        signature[0] = (char)take8(reader);
        if (take8(reader) != '\0')
                reader->failed = true;
        if (*signature == 's' || *signature == 'o')
                take_text(reader, take32(reader), text_of(header, field));
        else if (*signature == 'g')
                take_text(reader, take8(reader), NULL);
        else if (*signature == 'u')
                (void)take32(reader);
        else
                reader->failed = true;
}

int dbus_header_parse(const char *bytes, size_t n, struct dbus_header *ret)
{
        struct reader reader = { .bytes = bytes, .n = n };
        struct dbus_header header = { 0 };
        uint8_t order = take8(&reader);
        uint32_t length;

        reader.big = order == 'B';
        header.type = take8(&reader);
        (void)take8(&reader); /* flags */
        if (take8(&reader) != 1 || (order != 'B' && order != 'l'))
                return -EINVAL;
        (void)take32(&reader); /* the length of the body */
        header.serial = take32(&reader);
        length = take32(&reader);
        if (reader.failed || length > n - reader.at)
                return -EINVAL;
        reader.n = reader.at + length;
        while (!reader.failed && reader.at < reader.n)
                take_field(&reader, &header);
        if (reader.failed)
                return -EINVAL;
        *ret = header;
        return 0;
}
