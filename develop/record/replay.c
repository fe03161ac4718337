/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Handles the records of all CPUs in the order of their time. */

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "causes.h"
#include "charge.h"
#include "dbus-header.h"
#include "frame-name.h"
#include "messages.h"
#include "perf-map.h"
#include "probe-event.h"
#include "process-tree.h"
#include "record-parse.h"
#include "replay.h"
#include "space.h"
#include "stop.h"
#include "util/util.h"
#include "work.h"

struct at { /* where a record is */
        uint64_t time_ns;
        size_t offset;
};

struct replay {
        const char *data;
        size_t length;
        struct at *list;
        size_t n, capacity;
        const struct event_ids *ids;
        const struct tracepoints *tracepoints;
        const struct perf_times *code;
        struct causes *causes;
        struct process_tree *tree;
        struct work *work;
        struct messages *messages;
        struct charge charge;
};

static int by_time(const void *a, const void *b)
{
        const struct at *first = a, *second = b;

        if (first->time_ns != second->time_ns)
                return first->time_ns < second->time_ns ? -1 : 1;
        return first->offset < second->offset ? -1 : 1;
}

/* Forgets the work and the messages that were passed on before, as some were not seen. */
static void forget_passed(struct replay *replay)
{
        work_forget(replay->work, 0);
        messages_forget(replay->messages);
}

static int find_records(struct replay *replay)
{
        for (size_t offset = 0; offset < replay->length;) {
                struct perf_event_header header;
                struct at at = { .offset = offset };

                if (record_header(replay->data, replay->length, offset, &header) < 0)
                        return -EINVAL;
                at.time_ns = record_time(replay->data + offset, &header);
                if (util_grow(&replay->list, &replay->capacity, replay->n + 1, sizeof(at)) < 0)
                        return -ENOMEM;
                replay->list[replay->n++] = at;
                offset += header.size;
        }
        if (replay->n > 1)
                qsort(replay->list, replay->n, sizeof(*replay->list), by_time);
        return 0;
}

static int kind_of(const struct event_ids *ids, uint64_t id)
{
        for (int kind = 0; kind < EVENT_COUNT; kind++)
                for (size_t i = 0; i < ids->n[kind]; i++)
                        if (ids->list[kind][i] == id)
                                return kind;
        return -ENOENT;
}

/*
 * Computes factors by which the kernel's exact counts correct its estimates of how many events a sample stands for, as
 * these are far off in short bursts.
 */
static int find_factors(struct replay *replay, const double totals[EVENT_COUNT])
{
        double sampled[EVENT_COUNT] = { 0 };

        for (size_t i = 0; i < replay->n; i++) {
                const char *record = replay->data + replay->list[i].offset;
                struct perf_event_header header;
                struct record_sample sample;
                int kind;

                memcpy(&header, record, sizeof(header));
                if (header.type != PERF_RECORD_SAMPLE)
                        continue;
                if (record_sample(record, &header, &sample) < 0)
                        return -EINVAL;
                kind = kind_of(replay->ids, sample.id);
                if (kind >= 0)
                        sampled[kind] += (double)sample.period;
        }
        for (size_t kind = 0; kind < EVENT_COUNT; kind++)
                replay->charge.factor[kind] = kind != EVENT_CPU && totals[kind] > 0 && sampled[kind] > 0 ?
                                                      totals[kind] / sampled[kind] :
                                                      1;
        return 0;
}

/* Is it a stack of the loader before main()? It has no frame of the program, but none is lost. */
static bool is_loader(const char *outermost)
{
        const char *at = strrchr(outermost, '@');

        return at && (strncmp(at, "@ld-linux", 9) == 0 || strncmp(at, "@ld-musl", 8) == 0 ||
                      strncmp(at, "@ld.so", 6) == 0);
}

static bool has_app(const struct unwound *unwound, const struct recording *recording)
{
        for (size_t i = 0; i < unwound->n; i++)
                if (unwound->frames[i].app)
                        return true;
        return unwound->n > 0 && is_loader(words_bytes(recording->frames, unwound->frames[unwound->n - 1].name, NULL));
}

/* Stack pointer of the caller of the function that is just beginning; 0: unknown. */
static uint64_t stack_pointer(const struct record_sample *sample)
{
        return sample->has_registers ? sample->registers[REGISTERS_SP] + REGISTERS_CALL_BYTES : 0;
}

/* Notes a D-Bus message that is being made. */
static int take_made(struct replay *replay, const struct record_sample *sample, const struct tracepoint *point)
{
        char destination[DBUS_HEADER_TEXT], path[DBUS_HEADER_TEXT], interface[DBUS_HEADER_TEXT],
                member[DBUS_HEADER_TEXT];

        return messages_make(replay->messages, (pid_t)sample->tid,
                             probe_event_text(&point->destination, sample->raw, sample->raw_bytes,
                                              destination, sizeof(destination)),
                             probe_event_text(&point->path, sample->raw, sample->raw_bytes, path,
                                              sizeof(path)),
                             probe_event_text(&point->interface, sample->raw, sample->raw_bytes, interface,
                                              sizeof(interface)),
                             probe_event_text(&point->member, sample->raw, sample->raw_bytes, member,
                                              sizeof(member)));
}

/* Notes that a D-Bus message of @length bytes has come; the sample has its first bytes. */
static int take_message(struct replay *replay, const struct record_sample *sample,
                        const struct tracepoint *point, uint64_t length)
{
        pid_t pid = (pid_t)sample->pid, tid = (pid_t)sample->tid;
        struct dbus_header header;
        uint32_t cause = CAUSE_NONE;
        int err = 0;

        if ((size_t)point->bytes.offset + point->bytes.size <= sample->raw_bytes &&
            dbus_header_parse(sample->raw + point->bytes.offset, (size_t)MIN(length, point->bytes.size), &header) == 0)
                err = messages_receive(replay->messages, pid, &header, &cause);
        return err ? err : work_message(replay->work, pid, tid, cause);
}

/* Handles an event that only tells what its thread does. */
static int take_step(struct replay *replay, const struct record_sample *sample, enum event_kind kind,
                     struct process *process)
{
        const struct tracepoint *point = &replay->tracepoints->list[kind];
        uint64_t value = tracepoints_number(&point->value, sample->raw, sample->raw_bytes);
        uint64_t code = tracepoints_number(&point->code, sample->raw, sample->raw_bytes);
        uint64_t sp = stack_pointer(sample);
        pid_t pid = process->pid, tid = (pid_t)sample->tid;

        if (kind == EVENT_DISPATCH)
                return work_dispatch(replay->work, pid, tid, value, code, sp);
        if (kind == EVENT_DISPATCHED)
                return work_dispatched(replay->work, pid, tid, value, sp);
        if (kind == EVENT_POPPED)
                return work_taken(replay->work, pid, tid, value);
        if (kind == EVENT_TASK_MADE)
                return work_task_made(replay->work, pid, tid, value);
        if (kind == EVENT_TASK_ATTACH)
                return work_task_attach(replay->work, pid, tid, code, value);
        if (kind == EVENT_CALL || kind == EVENT_SIGNAL)
                return take_made(replay, sample, point);
        if (kind == EVENT_MESSAGE)
                return take_message(replay, sample, point, value);
        return work_asked(replay->work, pid, tid, value, sp, code, space_is_glib(process->space, code));
}

/*
 * Leaves out functions without a name between the program and g_source_attach. The function that the program called
 * ends in a jump there, and is no longer on the stack.
 */
static void leave_out_unknown(struct placed *placed, const struct words *names)
{
        size_t n = placed->n;

        while (n > 1 && frame_is_unknown(words_bytes(names, placed->frames[n - 2], NULL)) &&
               strcmp(strrchr(words_bytes(names, placed->frames[n - 2], NULL), '@'),
                      strrchr(words_bytes(names, placed->frames[placed->n - 1], NULL), '@')) == 0)
                n--;
        if (n > 1)
                placed->frames[n - 1] = placed->frames[placed->n - 1];
        placed->n = n > 1 ? n : placed->n;
}

/* Notes that work is asked for by the stack @placed. */
static int take_cause(struct replay *replay, const struct record_sample *sample, enum event_kind kind,
                      const struct process *process, struct placed *placed, const struct words *names)
{
        const struct tracepoint *point = &replay->tracepoints->list[kind];
        uint64_t value = tracepoints_number(&point->value, sample->raw, sample->raw_bytes);
        uint64_t code = tracepoints_number(&point->code, sample->raw, sample->raw_bytes);
        uint32_t cause;
        int err;

        if (kind == EVENT_ATTACH)
                leave_out_unknown(placed, names);
        err = causes_add(replay->causes, placed->cause, placed->frames, placed->n, &cause);

        if (err)
                return err;
        if (kind == EVENT_CHILD)
                return process_tree_made(replay->tree, (pid_t)value, cause);
        if (kind == EVENT_ATTACH)
                return work_attached(replay->work, process->pid, (pid_t)sample->tid, value, cause);
        if (kind == EVENT_TASK)
                return work_task(replay->work, process->pid, (pid_t)sample->tid, cause, stack_pointer(sample), code);
        if (kind == EVENT_SERIAL)
                return messages_send(replay->messages, process->pid, (pid_t)sample->tid, (uint32_t)value, cause);
        return work_pushed(replay->work, process->pid, code, value, cause);
}

/* Is the kernel starting the program or taking it down? Then the process has no stack, and the program is charged. */
static bool has_no_memory(const struct record_sample *sample)
{
        return !sample->has_registers || sample->stack_bytes == 0;
}

static int unwind(struct replay *replay, const struct record_sample *sample, enum event_kind kind,
                  struct process *process, struct unwound *ret)
{
        const struct sample_stack stack = { (pid_t)sample->tid, sample->registers, sample->stack, sample->stack_bytes,
                                            work_anchors(replay->work, process->pid, (pid_t)sample->tid) };

        ret->n = 0;
        ret->whole = kind == EVENT_CPU && has_no_memory(sample);
        ret->anchor = -1;
        if (!sample->has_registers || ret->whole)
                return 0;
        return kind == EVENT_CHILD ? space_unwind_maker(process->space, &stack, ret) :
                                     space_unwind(process->space, &stack, ret);
}

/* Handles a sample: charges its stack below the cause of its work. */
static int take_sample(struct replay *replay, const struct record_sample *sample, enum event_kind kind,
                       struct recording *recording)
{
        struct charged charged = { .sample = sample, .kind = kind };
        struct process *process = NULL;
        struct unwound unwound;
        struct placed placed;
        uint32_t cause;
        int err = process_tree_find(replay->tree, (pid_t)sample->pid, &process);

        if (err)
                return err;
        if (sample->time_ns > replay->ids->passed_until_ns)
                forget_passed(replay);
        if (event_is_step(kind))
                return take_step(replay, sample, kind, process);
        space_set_known(process->space, perf_times_at(replay->code, process->pid, sample->time_ns));
        err = unwind(replay, sample, kind, process, &unwound);
        if (err)
                return err;
        process_tree_place(replay->tree, process, (pid_t)sample->tid, &unwound, &placed);
        cause = work_cause(replay->work, (pid_t)sample->tid, unwound.anchor);
        placed.cause = cause == CAUSE_NONE ? placed.cause : cause;
        if (kind >= EVENT_CHILD)
                return take_cause(replay, sample, kind, process, &placed, recording->frames);
        charged.whole = unwound.whole;
        charged.has_app = placed.cause != CAUSE_NONE || unwound.anchor >= 0 || has_no_memory(sample) ||
                          has_app(&unwound, recording);
        err = causes_stack(replay->causes, placed.cause, placed.frames, placed.n, &charged.stack);
        return err ? err : charge_add(&replay->charge, &charged, recording);
}

static int take_record(struct replay *replay, size_t offset, struct recording *recording)
{
        const char *record = replay->data + offset;
        struct perf_event_header header;
        struct record_sample sample;
        struct record_event event;
        int kind;

        memcpy(&header, record, sizeof(header));
        if (header.type == PERF_RECORD_SAMPLE) {
                if (record_sample(record, &header, &sample) < 0)
                        return -EINVAL;
                kind = kind_of(replay->ids, sample.id);
                return kind < 0 ? 0 : take_sample(replay, &sample, (enum event_kind)kind, recording);
        }
        if (record_event(record, &header, &event) < 0)
                return -EINVAL;
        if (header.type == PERF_RECORD_LOST) {
                recording->lost += event.lost;
                forget_passed(replay); /* a source of the same address may have been attached since */
        }
        if (header.type == PERF_RECORD_COMM && event.exec)
                work_forget(replay->work, (pid_t)event.pid);
        return process_tree_event(replay->tree, &event);
}

int replay(int spool_fd, const struct event_ids *ids, const struct tracepoints *tracepoints,
           const struct perf_times *code, const double totals[EVENT_COUNT], uint64_t gpu_ns,
           struct prices *prices, struct recording *ret)
{
        struct replay replay = { .ids = ids, .tracepoints = tracepoints, .code = code };
        struct stat status;
        void *at = NULL;
        int err;

        *ret = (struct recording){ .frames = words_new(), .stacks = words_new() };
        if (!ret->frames || !ret->stacks)
                return -ENOMEM;
        if (fstat(spool_fd, &status) < 0)
                return -errno;
        replay.length = (size_t)status.st_size;
        if (replay.length > 0)
                at = mmap(NULL, replay.length, PROT_READ, MAP_PRIVATE, spool_fd, 0);
        if (at == MAP_FAILED)
                return -errno;
        replay.data = at;
        err = causes_new(ret->stacks, &replay.causes);
        if (!err)
                err = work_new(&replay.work);
        if (!err)
                err = messages_new(&replay.messages);
        if (!err)
                err = process_tree_new(ret->frames, &ret->places, replay.causes, &replay.tree);
        if (!err)
                err = find_records(&replay);
        if (!err)
                err = charge_open(&replay.charge, prices, tracepoints);
        if (!err)
                err = find_factors(&replay, totals);
        for (size_t i = 0; !err && i < replay.n; i++)
                err = stop_asked() ? -EINTR : take_record(&replay, replay.list[i].offset, ret);
        if (!err) {
                process_tree_counts(replay.tree, &ret->threads, &ret->threads_placed);
                work_counts(replay.work, &ret->work, &ret->work_placed);
                err = charge_finish(&replay.charge, ret);
        }
        if (!err && gpu_ns > 0) {
                ret->gpu_ns = gpu_ns;
                err = charge_gpu(&replay.charge, gpu_ns, ret);
        }
        charge_clear(&replay.charge);
        process_tree_free(replay.tree);
        work_free(replay.work);
        messages_free(replay.messages);
        causes_free(replay.causes);
        free(replay.list);
        if (at)
                munmap(at, replay.length);
        return err;
}

void replay_clear(struct recording *recording)
{
        words_free(recording->frames);
        words_free(recording->stacks);
        free(recording->places.list);
        free(recording->lines);
        *recording = (struct recording){ 0 };
}
