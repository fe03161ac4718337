/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "events.h"
#include "record-parse.h"

#define TRAILER_BYTES 32 /* fields of EVENTS_KEEP behind each record that is no sample: pid, tid, time, CPU, id */

struct reader {
        const char *at, *end;
        bool failed;
};

static const char *take(struct reader *reader, size_t n)
{
        const char *at = reader->at;

        if (reader->failed || (size_t)(reader->end - at) < n) {
                reader->failed = true;
                return NULL;
        }
        reader->at += n;
        return at;
}

static uint64_t take64(struct reader *reader)
{
        uint64_t value = 0;
        const char *at = take(reader, sizeof(value));

        if (at)
                memcpy(&value, at, sizeof(value));
        return value;
}

static uint32_t take32(struct reader *reader)
{
        uint32_t value = 0;
        const char *at = take(reader, sizeof(value));

        if (at)
                memcpy(&value, at, sizeof(value));
        return value;
}

int record_header(const char *data, size_t length, size_t offset, struct perf_event_header *ret)
{
        struct perf_event_header header;

        if (offset > length || length - offset < sizeof(header))
                return -EINVAL;
        memcpy(&header, data + offset, sizeof(header));
        if (header.size < sizeof(header) || header.size > length - offset || header.size % 8 != 0)
                return -EINVAL;
        *ret = header;
        return 0;
}

uint64_t record_time(const char *record, const struct perf_event_header *header)
{
        uint64_t time = 0;

        if (header->type == PERF_RECORD_SAMPLE && header->size >= sizeof(*header) + 32)
                memcpy(&time, record + sizeof(*header) + 24, sizeof(time)); /* after identifier, address, pid and tid */
        else if (header->type != PERF_RECORD_SAMPLE && header->size >= sizeof(*header) + TRAILER_BYTES)
                memcpy(&time, record + header->size - TRAILER_BYTES + 8, sizeof(time));
        return time;
}

static void take_stack(struct reader *reader, struct record_sample *sample)
{
        uint64_t size, used;

        size = take64(reader);
        if (size == 0)
                return;
        sample->stack = size <= EVENTS_STACK_KB_MAX * 1024 ? take(reader, size) : take(reader, SIZE_MAX);
        used = take64(reader);
        reader->failed |= used > size;
        sample->stack_bytes = used;
}

int record_sample(const char *record, const struct perf_event_header *header, struct record_sample *ret)
{
        struct reader reader = { record + sizeof(*header), record + header->size, false };
        struct record_sample sample = { .id = take64(&reader), .ip = take64(&reader) };

        sample.pid = take32(&reader);
        sample.tid = take32(&reader);
        sample.time_ns = take64(&reader);
        sample.cpu = take32(&reader);
        (void)take32(&reader);
        sample.period = take64(&reader);
        sample.raw_bytes = take32(&reader);
        sample.raw = take(&reader, sample.raw_bytes);
        if (take64(&reader) != PERF_SAMPLE_REGS_ABI_NONE) {
                sample.has_registers = true;
                for (size_t i = 0; i < REGISTERS_COUNT; i++)
                        sample.registers[i] = take64(&reader);
        }
        take_stack(&reader, &sample);
        if (reader.failed)
                return -EINVAL;
        *ret = sample;
        return 0;
}

static void take_mapping(struct reader *reader, struct record_event *event)
{
        event->pid = take32(reader);
        event->tid = take32(reader);
        event->from = take64(reader);
        event->length = take64(reader);
        event->offset = take64(reader);
        (void)take(reader, 32); /* device, inode and its generation, protection and flags */
        event->path = reader->at;
        if (!reader->failed && !memchr(reader->at, '\0', (size_t)(reader->end - reader->at)))
                reader->failed = true;
}

int record_event(const char *record, const struct perf_event_header *header, struct record_event *ret)
{
        struct reader reader = { record + sizeof(*header), record + header->size,
                                 header->size < sizeof(*header) + TRAILER_BYTES };
        struct record_event event = { .type = header->type };

        reader.end -= reader.failed ? 0 : TRAILER_BYTES;
        switch (header->type) {
        case PERF_RECORD_MMAP2:
                take_mapping(&reader, &event);
                break;
        case PERF_RECORD_COMM:
                event.exec = header->misc & PERF_RECORD_MISC_COMM_EXEC;
                event.pid = take32(&reader);
                event.tid = take32(&reader);
                break;
        case PERF_RECORD_FORK:
        case PERF_RECORD_EXIT:
                event.pid = take32(&reader);
                event.parent_pid = take32(&reader);
                event.tid = take32(&reader);
                event.parent_tid = take32(&reader);
                break;
        case PERF_RECORD_LOST:
                (void)take64(&reader);
                event.lost = take64(&reader);
                break;
        default:
                *ret = event;
                return 0;
        }
        if (reader.failed)
                return -EINVAL;
        *ret = event;
        return 0;
}
