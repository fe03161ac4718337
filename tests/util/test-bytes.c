/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Packed numbers: reading several bytes at once says the same as one byte after the other. */

#include <stdlib.h>

#include "check.h"
#include "util/bytes.h"
#include "util/util.h"

static uint64_t draw(void)
{
        static uint64_t state = UINT64_C(88172645463325252);

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
}

/* Each length of a number, with room for all of the bytes behind it and without. */
static void test_round(void)
{
        for (unsigned bits = 0; bits <= 64; bits++) {
                for (unsigned behind = 0; behind < 10; behind++) {
                        uint64_t number = bits ? UINT64_MAX >> (64 - bits) : 0, got = 1;
                        struct bytes bytes = { 0 };
                        struct bytes_reader reader;

                        check_int(bytes_put(&bytes, number), 0);
                        for (unsigned i = 0; i < behind; i++)
                                check_int(bytes_put(&bytes, i), 0);
                        reader = (struct bytes_reader){ bytes.data, bytes.data + bytes.n };
                        check_int(bytes_count(&reader), 1 + behind);
                        check_int(bytes_get(&reader, &got), 0);
                        check(got == number);
                        check_int(reader.end - reader.at, behind);
                        bytes_clear(&bytes);
                }
        }
}

/* Any bytes, those with too many bytes and those that are cut among them; in memory of just their length. */
static void test_any(void)
{
        for (unsigned round = 0; round < 200000; round++) {
                size_t length = draw() % 24, at = 0;
                unsigned char *data = malloc(length ? length : 1);

                check(data != NULL);
                for (size_t i = 0; data && i < length; i++)
                        data[i] = (unsigned char)(draw() % 8 == 0 ? draw() & 0x80 : draw() | (draw() % 4 ? 0x80 : 0));
                while (data && at <= length) {
                        struct bytes_reader fast = { data + at, data + length }, slow = fast;
                        uint64_t one = 7, other = 7;
                        int err = bytes_get(&fast, &one);

                        check_int(err, bytes_get_slowly(&slow, &other));
                        check(one == other && fast.at == slow.at && fast.end == slow.end);
                        if (err)
                                break;
                        at = (size_t)(fast.at - data);
                }
                free(data);
        }
}

int main(void)
{
        test_round();
        test_any();
        return check_result();
}
