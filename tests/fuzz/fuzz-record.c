/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "fuzz.h"
#include "record/cxx-name.h"
#include "record/dbus-header.h"
#include "record/frame-name.h"
#include "record/perf-map.h"
#include "record/record-parse.h"
#include "record/tracepoints.h"

/*
 * Inputs of joulecast-record: records of the kernel, perf maps, formats of tracepoints, names of symbols,
 * headers of D-Bus.
 */

static void records(const char *data, size_t size)
{
        struct perf_event_header header;
        struct record_sample sample;
        struct record_event event;

        for (size_t at = 0; record_header(data, size, at, &header) == 0; at += header.size) {
                (void)record_time(data + at, &header);
                if (header.type == PERF_RECORD_SAMPLE && record_sample(data + at, &header, &sample) == 0)
                        fuzz_assert(sample.raw_bytes <= header.size && sample.stack_bytes <= header.size);
                else if (header.type != PERF_RECORD_SAMPLE && record_event(data + at, &header, &event) == 0 &&
                         event.type == PERF_RECORD_MMAP2)
                        fuzz_assert(strlen(event.path) < header.size);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct tracepoint_place field = { 0 };
        struct dbus_header header;
        struct perf_map *map;
        char name[FRAME_NAME_MAX], *text = malloc(size + 1);
        char *copy = malloc(size + 1); /* at an address where numbers can be */

        fuzz_assert(text && copy);
        memcpy(copy, data, size);
        records(copy, size);
        memcpy(text, data, size);
        text[size] = '\0';
        frame_name(text, text, name, sizeof(name));
        /* "<A as B>" of Rust has blanks */
        fuzz_assert(*name && !strpbrk(name, strncmp(text, "_R", 2) == 0 ? ";\n" : "; \n") && strchr(name, '@'));
        fuzz_assert(frame_name(text, FRAME_CODE, name, sizeof(name)) && !strpbrk(name, ";\n"));
        if (cxx_short(text, name, sizeof(name)))
                fuzz_assert(*name && strlen(name) < sizeof(name));
        if (tracepoints_field(text, "len", &field) == 0)
                (void)tracepoints_number(&field, copy, size);
        if (dbus_header_parse(copy, size, &header) == 0)
                fuzz_assert(strlen(header.path) < sizeof(header.path) && strlen(header.sender) < sizeof(header.sender));
        if (perf_map_parse(copy, size, &map) == 0) {
                (void)perf_map_find(map, 0x1000, SIZE_MAX);
                perf_map_free(map);
        }
        free(text);
        free(copy);
        return 0;
}
