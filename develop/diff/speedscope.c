/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Files of speedscope: www.speedscope.app/file-format-schema.json. Each of its profiles is a thread. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "json-text.h"
#include "read.h"
#include "util/util.h"

#define FRAMES_MAX 4000000
#define NAME_SIZE 4096

struct speedscope {
        struct read *read;
        int32_t *labels; /* label of each frame of the file */
        size_t n, capacity;
        int32_t root, cpu_time; /* @cpu_time: label of dotnet-trace's mark of time on a CPU, which is no function */
        double factor;
        int32_t stack[STACKS_DEPTH_MAX]; /* from the root down; read_stack() gets it in reverse */
        size_t depth;
        int32_t turned[STACKS_DEPTH_MAX];
};

static void speedscope_freep(struct speedscope **speedscope)
{
        if (*speedscope)
                free((*speedscope)->labels);
        free(*speedscope);
}

static int damaged(const struct speedscope *speedscope)
{
        return read_damaged(speedscope->read, 0, "it is a damaged file of speedscope");
}

static int add_frame(struct speedscope *speedscope, struct json_text *json)
{
        static const char *const names[] = { "name", "file" };
        struct json_text found[ARRAY_SIZE(names)];
        char name[NAME_SIZE], file[NAME_SIZE];
        size_t name_length, file_length;
        int32_t label;

        json_members(json, names, ARRAY_SIZE(names), found);
        if (json->failed || !found[0].at)
                return damaged(speedscope);
        name_length = json_string(&found[0], name, sizeof(name));
        file_length = found[1].at ? json_string(&found[1], file, sizeof(file)) : 0;
        if (speedscope->n >= FRAMES_MAX)
                return read_damaged(speedscope->read, 0, "it has more than 4 million functions, locations or strings");
        label = read_label(speedscope->read, name, name_length, file, file_length);
        if (label < 0 || util_grow(&speedscope->labels, &speedscope->capacity, speedscope->n + 1,
                                   sizeof(*speedscope->labels)) < 0)
                return read_failed(speedscope->read, label < 0 ? label : -ENOMEM);
        speedscope->labels[speedscope->n++] = label;
        return 0;
}

static int add_frames(struct speedscope *speedscope, struct json_text shared)
{
        static const char *const names[] = { "frames" };
        struct json_text frames;
        int err = 0;

        json_members(&shared, names, 1, &frames);
        if (!frames.at)
                return damaged(speedscope);
        for (bool more = json_begin(&frames, '['); more && err == 0; more = err == 0 && json_more(&frames, ']'))
                err = add_frame(speedscope, &frames);
        return err == 0 && frames.failed ? damaged(speedscope) : err;
}

static int push(struct speedscope *speedscope, double frame)
{
        if (!(frame >= 0) || frame >= (double)speedscope->n || frame != (double)(size_t)frame)
                return read_damaged(speedscope->read, 0, "an index points to nothing");
        if (speedscope->depth >= STACKS_DEPTH_MAX - 1)
                return read_damaged(speedscope->read, 0, "a stack has more than 4096 frames");
        speedscope->stack[speedscope->depth++] = speedscope->labels[(size_t)frame];
        return 0;
}

static int count(struct speedscope *speedscope, double value)
{
        size_t depth = speedscope->depth;

        if (depth == 0 || value == 0)
                return 0;
        depth -= depth > 1 && speedscope->stack[depth - 1] == speedscope->cpu_time;
        for (size_t i = 0; i < depth; i++)
                speedscope->turned[i] = speedscope->stack[depth - 1 - i];
        return read_stack(speedscope->read, speedscope->root, speedscope->turned, depth, value * speedscope->factor, 1);
}

/* Adds stacks, which are from the root down, with the weight of each. */
static int add_samples(struct speedscope *speedscope, struct json_text samples, struct json_text weights)
{
        bool weight = weights.at != NULL && json_begin(&weights, '[');
        int err = 0;

        for (bool more = json_begin(&samples, '['); more && err == 0; more = err == 0 && json_more(&samples, ']')) {
                speedscope->depth = 0;
                for (bool frame = json_begin(&samples, '['); frame && err == 0;
                     frame = err == 0 && json_more(&samples, ']'))
                        err = push(speedscope, json_number(&samples));
                if (err == 0 && (samples.failed || weights.failed || (weights.at && !weight)))
                        err = damaged(speedscope);
                if (err == 0)
                        err = count(speedscope, weights.at ? json_number(&weights) : 1);
                weight = err == 0 && weight && json_more(&weights, ']');
        }
        if (err == 0 && (samples.failed || weights.failed || weight))
                err = damaged(speedscope);
        return err;
}

/* Between two events the frame on top runs. */
static int add_event(struct speedscope *speedscope, struct json_text *json, double *now)
{
        double frame = NAN, at = NAN;
        size_t type_length = 0;
        char type[2];
        int err;

        for (bool more = json_begin(json, '{'); more; more = json_more(json, '}')) {
                size_t length;
                const char *key = json_key(json, &length);

                if (json_key_is(key, length, "type"))
                        type_length = json_string(json, type, sizeof(type));
                else if (json_key_is(key, length, "frame"))
                        frame = json_number(json);
                else if (json_key_is(key, length, "at"))
                        at = json_number(json);
                else
                        json_skip(json);
        }
        if (json->failed || type_length != 1)
                return damaged(speedscope);
        if (isnan(at) || at < *now)
                return read_damaged(speedscope->read, 0, "its events are not in the order of time");
        err = isinf(*now) ? 0 : count(speedscope, at - *now);
        *now = at;
        if (err < 0 || *type == 'O')
                return err < 0 ? err : push(speedscope, frame);
        if (*type != 'C' || speedscope->depth == 0 || !(frame >= 0) || frame >= (double)speedscope->n ||
            speedscope->stack[speedscope->depth - 1] != speedscope->labels[(size_t)frame])
                return read_damaged(speedscope->read, 0, "an event ends a frame that is not on top of the stack");
        speedscope->depth--;
        return 0;
}

static int add_events(struct speedscope *speedscope, struct json_text events)
{
        double now = -INFINITY;
        int err = 0;

        speedscope->depth = 0;
        for (bool more = json_begin(&events, '['); more && err == 0; more = err == 0 && json_more(&events, ']'))
                err = add_event(speedscope, &events, &now);
        return err == 0 && events.failed ? damaged(speedscope) : err;
}

static int add_profile(struct speedscope *speedscope, struct json_text *json)
{
        static const char *const names[] = { "name", "unit", "samples", "weights", "events" };
        struct json_text found[ARRAY_SIZE(names)];
        char name[NAME_SIZE];
        const char *unit = speedscope->read->unit;
        size_t length;

        json_members(json, names, ARRAY_SIZE(names), found);
        if (json->failed || (!found[2].at && !found[4].at))
                return damaged(speedscope);
        length = found[1].at ? json_string(&found[1], name, sizeof(name)) : 0;
        speedscope->factor =
                length ? read_unit(speedscope->read, name, length) : read_unit(speedscope->read, "none", 4);
        if (speedscope->factor <= 0)
                return read_damaged(speedscope->read, 0, "its values are neither time, energy, bytes nor a "
                                                         "count of samples");
        if (unit && unit != speedscope->read->unit)
                return read_damaged(speedscope->read, 0, "its profiles do not have the same unit");
        length = found[0].at ? json_string(&found[0], name, sizeof(name)) : 0;
        speedscope->root = length ? read_label(speedscope->read, name, length, NULL, 0) :
                                    read_label(speedscope->read, "app", 3, NULL, 0);
        if (speedscope->root < 0)
                return read_failed(speedscope->read, speedscope->root);
        return found[2].at ? add_samples(speedscope, found[2], found[3]) : add_events(speedscope, found[4]);
}

int speedscope_parse(struct read *read, struct json_text profiles, struct json_text shared)
{
        _cleanup_(speedscope_freep) struct speedscope *speedscope = calloc(1, sizeof(*speedscope));
        int err;

        if (!speedscope)
                return read_failed(read, -ENOMEM);
        speedscope->read = read;
        read->unit = NULL;
        speedscope->cpu_time = read_label(read, "CPU_TIME", 8, NULL, 0);
        err = speedscope->cpu_time < 0 ? read_failed(read, speedscope->cpu_time) : add_frames(speedscope, shared);
        for (bool more = err == 0 && json_begin(&profiles, '['); more && err == 0;
             more = err == 0 && json_more(&profiles, ']'))
                err = add_profile(speedscope, &profiles);
        return err == 0 && profiles.failed ? damaged(speedscope) : err;
}
