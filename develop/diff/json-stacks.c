/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Profiles in JSON: finds the format, speedscope's or that of the Firefox Profiler. */

#include "json-text.h"
#include "read.h"
#include "util/util.h"

bool json_stacks_is(const char *text, size_t length)
{
        struct json_text json = { text, text + length, false, NULL };
        char first, second;

        if (length >= 3 && (unsigned char)text[0] == 0xef && (unsigned char)text[1] == 0xbb)
                json.at += 3;
        first = json_peek(&json);
        if (first != '{' && first != '[')
                return false;
        json.at++;
        second = json_peek(&json); /* folded stacks may begin with "{main};" or "[unknown];" */
        return second == '"' || (first == '{' && second == '}') || (first == '[' && (second == '{' || second == ']'));
}

int json_stacks_parse(struct read *read, const char *text, size_t length)
{
        static const char *const names[] = { "threads", "meta", "profiles", "shared", "traceEvents", "nodes" };
        _cleanup_(json_ends_clear) struct json_ends ends = { 0 };
        struct json_text json = { text, text + length, false, &ends }, found[ARRAY_SIZE(names)] = { 0 }, root;

        if ((unsigned char)*text == 0xef)
                json.at += 3;
        root = json;
        if (json_peek(&json) == '{')
                json_members(&json, names, ARRAY_SIZE(names), found);
        if (json.failed)
                return read_damaged(read, 0, "it is damaged or cut JSON");
        if (found[0].at && found[1].at)
                return firefox_parse(read, root);
        if (found[2].at && found[3].at)
                return speedscope_parse(read, found[2], found[3]);
        return read_damaged(read, 0, "it is JSON, but not of speedscope or the Firefox Profiler; "
                                        "speedscope.app opens most profiles, and exports them");
}
