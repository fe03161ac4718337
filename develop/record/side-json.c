/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes run.json: what was recorded, and how far it can be trusted. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "answer/answer.h"
#include "frame-name.h"
#include "model/json-print.h"
#include "model/profile.h"
#include "side.h"
#include "util/units.h"
#include "util/util.h"

static void add_command(struct cJSON *json, const struct side *side)
{
        struct cJSON *list = cJSON_AddArrayToObject(json, "command");

        for (char **word = side->argv; *word; word++)
                cJSON_AddItemToArray(list, answer_text(*word));
}

static void add_where(struct cJSON *json)
{
        struct utsname name;

        answer_add_time(json, "date", (int64_t)time(NULL) * (int64_t)NS_PER_S);
        if (uname(&name) < 0)
                return;
        cJSON_AddItemToObject(json, "host", answer_text(name.nodename));
        cJSON_AddItemToObject(json, "kernel", answer_text(name.release));
}

static void add_bytes(struct cJSON *json, const struct run *run, const struct recorded_how *how)
{
        static const struct {
                const char *key;
                enum event_kind kind;
        } seen[] = { { "disk_write", EVENT_DIRTY }, { "disk_read", EVENT_READ }, { "net_sent", EVENT_SEND },
                     { "net_received", EVENT_RECEIVE } };
        struct cJSON *bytes = cJSON_AddObjectToObject(json, "bytes");

        cJSON_AddNumberToObject(bytes, "read", (double)run->result.read_bytes);
        cJSON_AddNumberToObject(bytes, "written", (double)run->result.written_bytes);
        for (size_t i = 0; i < ARRAY_SIZE(seen); i++) {
                if (how->tracepoints && how->tracepoints->list[seen[i].kind].id)
                        cJSON_AddNumberToObject(bytes, seen[i].key, run_count(run, seen[i].kind));
                else
                        cJSON_AddNullToObject(bytes, seen[i].key);
        }
}

static void add_energy(struct cJSON *json, const struct recording *recording, const struct recorded_how *how)
{
        double sum = 0, variance = 0;

        for (size_t i = 0; i < recording->n; i++) {
                variance += recording->lines[i].variance_nj2;
                for (size_t j = 0; j < COMPONENT_COUNT; j++)
                        sum += recording->lines[i].energy_nj[j];
        }
        if (!how->profile)
                cJSON_AddNullToObject(json, "energy_j");
        else
                cJSON_AddNumberToObject(json, "energy_j", sum / 1e9);
        cJSON_AddNumberToObject(json, "sum", sum);
        cJSON_AddNumberToObject(json, "variance", variance);
}

static void add_wakes(struct cJSON *json, const struct recording *recording, const struct recorded_how *how)
{
        double wakeups = 0, radio = 0;

        for (size_t i = 0; i < recording->n; i++) {
                wakeups += recording->lines[i].count[EVENT_SLEEP];
                radio += (double)recording->lines[i].radio_wakes;
        }
        if (how->tracepoints && how->tracepoints->list[EVENT_SLEEP].id)
                cJSON_AddNumberToObject(json, "wakeups", wakeups);
        else
                cJSON_AddNullToObject(json, "wakeups");
        if (how->tracepoints && how->tracepoints->list[EVENT_SEND].id)
                cJSON_AddNumberToObject(json, "radio_wakes", radio);
        else
                cJSON_AddNullToObject(json, "radio_wakes");
}

static struct cJSON *run_json(const struct run *run, size_t number, const struct recorded_how *how)
{
        const struct recording *recording = &run->recording;
        struct cJSON *json = cJSON_CreateObject();
        char file[48];

        snprintf(file, sizeof(file), "runs/%zu.folded", number);
        cJSON_AddStringToObject(json, "file", file);
        cJSON_AddNumberToObject(json, "exit_status", run->result.status);
        cJSON_AddNumberToObject(json, "wall_s", run->result.wall_s);
        cJSON_AddNumberToObject(json, "cpu_s", run->result.cpu_s);
        cJSON_AddNumberToObject(json, "samples", (double)recording->samples);
        cJSON_AddNumberToObject(json, "samples_lost", (double)recording->lost);
        cJSON_AddNumberToObject(json, "stacks_cut", (double)recording->cut);
        cJSON_AddNumberToObject(json, "without_app_frame",
                                recording->samples ? (double)recording->without_app / (double)recording->samples : 0);
        cJSON_AddNumberToObject(json, "threads", (double)recording->threads);
        cJSON_AddNumberToObject(json, "threads_placed", (double)recording->threads_placed);
        cJSON_AddNumberToObject(json, "work_passed", (double)recording->work);
        cJSON_AddNumberToObject(json, "work_placed", (double)recording->work_placed);
        add_wakes(json, recording, how);
        if (run->sees_gpu)
                cJSON_AddNumberToObject(json, "gpu_s", (double)recording->gpu_ns / 1e9);
        else
                cJSON_AddNullToObject(json, "gpu_s");
        add_bytes(json, run, how);
        add_energy(json, recording, how);
        return json;
}

static void add_profile(struct cJSON *json, const struct recorded_how *how)
{
        struct cJSON *profile;

        cJSON_AddStringToObject(json, "unit", how->profile ? "nJ" : "ns of CPU time");
        if (!how->profile) {
                cJSON_AddNullToObject(json, "profile");
                return;
        }
        profile = cJSON_AddObjectToObject(json, "profile");
        cJSON_AddItemToObject(profile, "device", answer_text(how->profile->device));
        cJSON_AddStringToObject(profile, "basis", profile_basis(how->profile));
}

struct app_file {
        const char *name; /* as in the names of frames */
        double cpu_ns;    /* CPU time of the stacks whose innermost frame of the program is in this file */
};

static int dearest_first(const void *a, const void *b)
{
        double first = ((const struct app_file *)a)->cpu_ns, second = ((const struct app_file *)b)->cpu_ns;

        return (first < second) - (first > second);
}

static int add_app_file(struct app_file **files, size_t *n, size_t *capacity, const char *name, double cpu_ns)
{
        for (size_t i = 0; i < *n; i++)
                if (strcmp((*files)[i].name, name) == 0) {
                        (*files)[i].cpu_ns += cpu_ns;
                        return 0;
                }
        if (util_grow(files, capacity, *n + 1, sizeof(**files)) < 0)
                return -ENOMEM;
        (*files)[(*n)++] = (struct app_file){ name, cpu_ns };
        return 0;
}

/* The file of the innermost frame of the program; NULL: the stack has none. */
static const char *app_file_of(const struct recording *recording, size_t stack)
{
        size_t length;
        const char *bytes = words_bytes(recording->stacks, (uint32_t)stack, &length), *file = NULL;

        for (size_t at = 0; at < length; at += sizeof(uint32_t)) {
                uint32_t frame;
                const char *name;

                memcpy(&frame, bytes + at, sizeof(frame));
                name = places_is_app(&recording->places, frame) ?
                               strrchr(words_bytes(recording->frames, frame, NULL), '@') :
                               NULL;
                file = name && strcmp(name + 1, FRAME_CODE) != 0 ? name + 1 : file;
        }
        return file;
}

/*
 * The files whose frames are the program's own, the dearest first: what it is, where a launcher or a
 * symbolic link was named.
 */
static int add_app_files(struct cJSON *json, const struct recording *recording)
{
        struct cJSON *list = cJSON_AddArrayToObject(json, "app_files");
        _cleanup_free_ struct app_file *files = NULL;
        size_t n = 0, capacity = 0;

        for (size_t i = 0; i < recording->n; i++) {
                const char *file = recording->lines[i].samples > 0 ? app_file_of(recording, i) : NULL;

                if (file && add_app_file(&files, &n, &capacity, file, recording->lines[i].cpu_ns) < 0)
                        return -ENOMEM;
        }
        if (n > 1)
                qsort(files, n, sizeof(*files), dearest_first);
        for (size_t i = 0; i < n; i++)
                cJSON_AddItemToArray(list, cJSON_CreateString(files[i].name));
        return 0;
}

static const char *passed_note(const struct run *run, char *buf, size_t size)
{
        static const char *const notes[] = {
                [PASSED_SEEN] = "work that is passed to a running thread by event loops and queues other "
                                "than GLib's, or over D-Bus by programs that are not recorded or do not use "
                                "GIO, is charged to that thread",
                [PASSED_NO_RIGHT] = "only root may have probes: work that is passed to a running thread is "
                                    "charged to that thread",
                [PASSED_NO_PROBES] = "this kernel has no uprobes: work that is passed to a running thread is "
                                     "charged to that thread",
                [PASSED_NO_GLIB] = "there is no GLib here that could be probed: work that is passed to a "
                                   "running thread is charged to that thread",
                [PASSED_OTHER_GLIB] = "the program has a GLib of its own, which is not probed: work that is "
                                      "passed to a running thread is charged to that thread",
        };

        if (run->passed != PASSED_TOO_OFTEN)
                return notes[run->passed];
        snprintf(buf, size, "too many pieces of work were passed on (more than %d with stacks, or %d in all, in one "
                            "second): from %.1f s on they are charged to the thread that does them",
                 EVENTS_PASSED_STACKS_PER_S, EVENTS_PASSED_PER_S, run->passed_until_s);
        return buf;
}

/* Adds notes about what the numbers do not include, one sentence each. */
static void add_notes(struct cJSON *json, const struct side *side, const struct recorded_how *how)
{
        struct cJSON *notes = cJSON_AddArrayToObject(json, "notes");
        const struct run *run = &side->runs[0];
        char passed[256];
        const char *list[] = {
                how->profile ? NULL : "there is no profile: values are CPU time, and bytes have no price",
                how->profile && !how->know_clock ? "the clock of the CPUs is not known: CPU time has the "
                                                   "mean price of all frequencies" : NULL,
                how->tracepoints ? NULL : "tracepoints cannot be read: bytes of disk and network are charged "
                                          "to nobody, and threads begin at the root",
                run->sees_gpu && !(how->tracepoints && how->tracepoints->list[EVENT_DRAW].id)
                        ? "jobs for the GPU are not seen: its energy is charged to the frame [gpu] at the root" : NULL,
                run->recording.air_rx_bytes + run->recording.air_tx_bytes > 0
                        ? "only this program's packets are seen: where others keep the radio awake, fewer of "
                          "its packets wake it" : NULL,
                passed_note(run, passed, sizeof(passed)),
                run->sees_kernel ? NULL : "the kernel is not seen: time in system calls is charged to nobody",
        };

        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                if (list[i])
                        cJSON_AddItemToArray(notes, cJSON_CreateString(list[i]));
}

int side_write(struct side *side, const struct recorded_how *how)
{
        struct cJSON *json = cJSON_CreateObject(), *runs;
        _cleanup_free_ char *text = NULL;
        int err = 0;

        json_add_schema(json);
        add_command(json, side);
        add_where(json);
        add_profile(json, how);
        if (how->script)
                cJSON_AddItemToObject(json, "input", answer_text(how->script));
        cJSON_AddNumberToObject(json, "samples_per_s", EVENTS_PER_S);
        err = add_app_files(json, &side->runs[0].recording);
        if (side->frames >= 0)
                cJSON_AddNumberToObject(json, "frames_shown", (double)side->frames);
        else
                cJSON_AddNullToObject(json, "frames_shown");
        runs = cJSON_AddArrayToObject(json, "runs");
        for (size_t i = 0; i < side->n; i++)
                cJSON_AddItemToArray(runs, run_json(&side->runs[i], i + 1, how));
        add_notes(json, side, how);
        text = json_print(json, JSON_INDENTED);
        if (!text || err)
                return -ENOMEM;
        for (size_t i = 0; !err && i < side->n; i++)
                err = folder_write_run(&side->folder, i + 1, &side->runs[i].recording);
        if (!err && side->calls)
                err = folder_write(&side->folder, "calls.tsv", side->calls, strlen(side->calls));
        if (!err)
                err = folder_write(&side->folder, "run.json", text, strlen(text));
        return err ? err : folder_finish(&side->folder);
}
