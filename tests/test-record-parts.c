/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What joulecast-record parses: names of frames, perf maps, formats of tracepoints, records, input scripts. */

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "harness/script.h"
#include "record/frame-name.h"
#include "record/perf-map.h"
#include "record/record-parse.h"
#include "record/tracepoints.h"
#include "record/words.h"

static void check_names(void)
{
        static const struct {
                const char *symbol, *path, *name;
        } cases[] = {
                { "main", "/usr/bin/player", "main@player" },
                { NULL, "/usr/lib/libz.so.1.2.13", "[unknown]@libz.so.1" },
                { "deflate_slow", "/usr/lib/libz.so.1", "deflate_slow@libz.so.1" },
                { "parse.constprop.0", "/bin/a", "parse@a" },
                { "parse.isra.0.part.3.cold", "/bin/a", "parse@a" },
                { "parse.cold", "/bin/a", "parse@a" },
                { "a.particle", "/bin/a", "a.particle@a" },
                { "read@@GLIBC_2.2.5", "/lib/libc.so.6", "read@libc.so.6" },
                { "read@GLIBC_2.2.5", "/lib/libc.so.6", "read@libc.so.6" },
                { "__memcpy_avx_unaligned_erms", "/lib/libc.so.6", "memcpy@libc.so.6" },
                { "__memmove_evex_unaligned", "/lib/libc.so.6", "memmove@libc.so.6" },
                { "__strlen_asimd", "/lib/libc.so.6", "strlen@libc.so.6" },
                { "__strange", "/lib/libc.so.6", "__strange@libc.so.6" },
                { "JS:a b;c", "[jit]", "JS:a_b_c@[jit]" },
                { "\033[2J", "/tmp/a b;c@d", "?[2J@a_b_c_d" },
                { "", "/bin/a", "[unknown]@a" },
                { "@", "/bin/a", "@@a" },
        };
        char name[FRAME_NAME_MAX];

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
                check_text(frame_name(cases[i].symbol, cases[i].path, name, sizeof(name)), cases[i].name);
        check(frame_is_unknown("[unknown]@a") && !frame_is_unknown("unknown@a"));
}

static void check_perf_map(void)
{
        static const char text[] = "1000 10 first\n1010 10 second one\nno line\n2000 0 empty\n1000 8 again\nffffffffffffffff 2 over\n";
        struct perf_map *map;

        check_int(perf_map_parse(text, sizeof(text) - 1, &map), 0);
        check_text(perf_map_find(map, 0x1007), "again");
        check(!perf_map_find(map, 0x1008));
        check_text(perf_map_find(map, 0x101f), "second one");
        check(!perf_map_find(map, 0x1020));
        check(!perf_map_find(map, 0xfff));
        check(!perf_map_find(map, 0x2000));
        perf_map_free(map);
        check_int(perf_map_parse("", 0, &map), 0);
        check(!perf_map_find(map, 1));
        perf_map_free(map);
}

static void check_format(void)
{
        static const char text[] = "format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                                   "\tfield:void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n"
                                   "\tfield:unsigned int len;\toffset:16;\tsize:4;\tsigned:0;\n"
                                   "\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
                                   "\tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n";
        static const char raw[24] = { [16] = 5, [17] = 1 };
        struct tracepoint_place field = { 0 };

        check_int(tracepoints_field(text, "len", &field), 0);
        check_int(field.offset, 16);
        check_int(tracepoints_number(&field, raw, sizeof(raw)), 261);
        check_int(tracepoints_number(&field, raw, 19), 0);
        check_int(tracepoints_field(text, "name", &field), 0);
        check_int(field.offset, 20);
        check_int(tracepoints_field(text, "comm", &field), 0);
        check_int(field.size, 16);
        check_int(tracepoints_number(&field, raw, sizeof(raw)), 0);
        check_int(tracepoints_field(text, "en", &field), -ENOENT);
        check_int(tracepoints_field("\tfield:int a;\toffset:x;", "a", &field), -EINVAL);
        check_int(tracepoints_field("\tfield:int a", "a", &field), -EINVAL);
}

static void check_records(void)
{
        static uint64_t words[8];
        const char *data = (const char *)words;
        struct perf_event_header header = { .type = PERF_RECORD_LOST, .size = 56 };
        struct record_event event;
        struct record_sample sample;

        memcpy(words, &header, sizeof(header));
        words[2] = 7;       /* lost */
        words[4] = 1234;    /* the time, second in the trailer */
        check_int(record_header(data, sizeof(words), 0, &header), 0);
        check_int(record_time(data, &header), 1234);
        check_int(record_event(data, &header, &event), 0);
        check_int(event.lost, 7);
        check_int(record_header(data, 55, 0, &header), -EINVAL);
        check_int(record_header(data, sizeof(words), sizeof(words) - 4, &header), -EINVAL);
        header = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = 40 };
        check_int(record_sample(data, &header, &sample), -EINVAL);
        header = (struct perf_event_header){ .type = PERF_RECORD_MMAP2, .size = 40 };
        check_int(record_event(data, &header, &event), -EINVAL);
}

static void check_fault(const char *text, unsigned line)
{
        struct script script = { 0 };
        struct script_fault fault = { 0 };

        check_int(script_parse(text, strlen(text), &script, &fault), -EINVAL);
        check_int(fault.line, line);
        check(fault.wants);
}

static void check_script(void)
{
        static const char text[] = "# a comment\n\n  key ctrl+s \r\ntype hello  world\nclick 10 20\nsleep 1.5s\nwait-window Editor\n"
                                   "wait-quiet 200ms\nwait-text # READY\nend";
        struct script script;
        struct script_fault fault;

        check_int(script_parse(text, sizeof(text) - 1, &script, &fault), 0);
        check_int(script.n, 8);
        check_text(script.steps[0].text, "ctrl+s");
        check_int(script.steps[0].line, 3);
        check_text(script.steps[1].text, "hello  world");
        check_int(script.steps[2].x, 10);
        check_int(script.steps[2].y, 20);
        check_int(script.steps[3].ns, 1500000000);
        check_int(script.steps[5].ns, 200000000);
        check_text(script.steps[6].text, "# READY");
        check_int(script.steps[7].verb, SCRIPT_END);
        script_clear(&script);
        check_fault("", 1);
        check_fault("# nothing\n", 1);
        check_fault("key\n", 1);
        check_fault("type a\nkeys b\n", 2);
        check_fault("click 1\n", 1);
        check_fault("click 1 99999\n", 1);
        check_fault("click -1 1\n", 1);
        check_fault("sleep 1\n", 1);
        check_fault("sleep 0s\n", 1);
        check_fault("sleep 99999s\n", 1);
        check_fault("end now\n", 1);
        check_fault("end\n\ntype a\n", 3);
}

static void check_words(void)
{
        struct words *words = words_new();
        size_t length;

        check_int(words_number(words, "a", 1), 0);
        check_int(words_number(words, "a\0b", 3), 1);
        check_int(words_number(words, "", 0), 2);
        check_int(words_number(words, "a", 1), 0);
        check_int(words_number(words, "", 0), 2);
        check_text(words_bytes(words, 0, &length), "a");
        check_int(length, 1);
        check_int(words_count(words), 3);
        words_free(words);
}

int main(void)
{
        check_names();
        check_perf_map();
        check_format();
        check_records();
        check_script();
        check_words();
        return check_result();
}
