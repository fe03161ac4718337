/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns.h"

#include <string.h>

#include "util/util.h"

#define HEADER 12
#define RESPONSE 0x80
#define TYPE_A 1
#define CLASS_IN 1
#define POINTER 0xc0

static unsigned get16(const uint8_t *bytes)
{
        return (unsigned)bytes[0] << 8 | bytes[1];
}

/* Where a name ends; 0: it does not. What a pointer points at is not read. */
static size_t skip_name(const uint8_t *bytes, size_t length, size_t at)
{
        while (at < length) {
                if (bytes[at] == 0)
                        return at + 1;
                if ((bytes[at] & POINTER) == POINTER)
                        return at + 2 <= length ? at + 2 : 0;
                if (bytes[at] & POINTER)
                        return 0;
                at += 1 + (size_t)bytes[at];
        }
        return 0;
}

static bool may_stand(uint8_t c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* The question's name, which has no pointers. False: it has, or it is too long or has strange letters. */
static bool read_name(const uint8_t *bytes, size_t length, size_t at, char ret[RECORD_NAME_MAX])
{
        size_t n = 0;

        while (at < length && bytes[at]) {
                size_t label = bytes[at++];

                if (label & POINTER || label > length - at || n + label + 2 > RECORD_NAME_MAX)
                        return false;
                for (; label > 0; label--, at++) {
                        if (!may_stand(bytes[at]))
                                return false;
                        ret[n++] = (char)bytes[at];
                }
                ret[n++] = '.';
        }
        if (n == 0)
                return false;
        ret[n - 1] = '\0';
        return true;
}

size_t dns_answer(const uint8_t *bytes, size_t length, struct name_record *ret, size_t n)
{
        struct name_record record;
        size_t at, found = 0;
        unsigned answers;

        memset(&record, 0, sizeof(record));
        if (length < HEADER || !(bytes[2] & RESPONSE) || get16(bytes + 4) != 1 ||
            !read_name(bytes, length, HEADER, record.name))
                return 0;
        answers = get16(bytes + 6);
        at = skip_name(bytes, length, HEADER);
        at = at ? at + 4 : 0;
        for (; answers > 0 && at && found < n; answers--) {
                size_t data;

                at = skip_name(bytes, length, at);
                if (!at || length < 10 || at > length - 10)
                        break;
                data = get16(bytes + at + 8);
                if (data > length - at - 10)
                        break;
                if (get16(bytes + at) == TYPE_A && get16(bytes + at + 2) == CLASS_IN && data == 4) {
                        record.address = (uint32_t)get16(bytes + at + 10) << 16 | get16(bytes + at + 12);
                        ret[found++] = record;
                }
                at += 10 + data;
        }
        return found;
}
