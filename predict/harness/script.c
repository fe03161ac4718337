/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "script.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

const char *const script_verbs[SCRIPT_END + 1] = {
        [SCRIPT_KEY] = "key",
        [SCRIPT_TYPE] = "type",
        [SCRIPT_CLICK] = "click",
        [SCRIPT_SLEEP] = "sleep",
        [SCRIPT_WAIT_WINDOW] = "wait-window",
        [SCRIPT_WAIT_QUIET] = "wait-quiet",
        [SCRIPT_WAIT_TEXT] = "wait-text",
        [SCRIPT_END] = "end",
};

static const char *const wants[SCRIPT_END + 1] = {
        [SCRIPT_KEY] = N_("the name of a key, as in: key Return, or: key ctrl+s"),
        [SCRIPT_TYPE] = N_("text, as in: type hello"),
        [SCRIPT_CLICK] = N_("two numbers from 0 to 16383, as in: click 100 50"),
        [SCRIPT_SLEEP] = N_("a time from 1ms to 3600s, as in: sleep 1s, or: sleep 200ms"),
        [SCRIPT_WAIT_WINDOW] = N_("a part of the window's title, as in: wait-window Editor"),
        [SCRIPT_WAIT_QUIET] = N_("a time from 1ms to 3600s, as in: wait-quiet 2s"),
        [SCRIPT_WAIT_TEXT] = N_("text that the program shows, as in: wait-text READY"),
        [SCRIPT_END] = N_("nothing behind it"),
};

static int take_time(const char *text, uint64_t *ret)
{
        char number[32];
        size_t length = strspn(text, "0123456789.");
        double value, unit;

        if (length == 0 || length >= sizeof(number))
                return -EINVAL;
        memcpy(number, text, length);
        number[length] = '\0';
        if (strcmp(text + length, "s") == 0)
                unit = NS_PER_S;
        else if (strcmp(text + length, "ms") == 0)
                unit = NS_PER_MS;
        else
                return -EINVAL;
        if (util_parse_double(number, &value) < 0 || value * unit < NS_PER_MS || value * unit > (double)SCRIPT_TIME_MAX_S * NS_PER_S)
                return -EINVAL;
        *ret = (uint64_t)(value * unit);
        return 0;
}

static int take_place(const char *text, struct script_step *step)
{
        char first[8];
        size_t length = strcspn(text, " \t");
        uint64_t x, y;

        if (length >= sizeof(first))
                return -EINVAL;
        memcpy(first, text, length);
        first[length] = '\0';
        if (util_parse_u64(first, &x) < 0 || util_parse_u64(text + length, &y) < 0 || x > SCRIPT_PIXELS_MAX || y > SCRIPT_PIXELS_MAX)
                return -EINVAL;
        step->x = (int)x;
        step->y = (int)y;
        return 0;
}

/* What stands behind the verb. */
static int take_rest(const char *rest, struct script_step *step)
{
        switch (step->verb) {
        case SCRIPT_SLEEP:
        case SCRIPT_WAIT_QUIET:
                return take_time(rest, &step->ns);
        case SCRIPT_CLICK:
                return take_place(rest, step);
        case SCRIPT_END:
                return *rest ? -EINVAL : 0;
        default:
                if (!*rest)
                        return -EINVAL;
                step->text = strdup(rest);
                return step->text ? 0 : -ENOMEM;
        }
}

/* @line: without blanks at its ends. */
static int take_line(const char *line, struct script_step *step, const char **wanted)
{
        size_t length = strcspn(line, " \t");

        *wanted = N_("one of: key, type, click, sleep, wait-window, wait-quiet, wait-text, end");
        for (size_t i = 0; i < ARRAY_SIZE(script_verbs); i++) {
                if (strlen(script_verbs[i]) != length || strncmp(line, script_verbs[i], length) != 0)
                        continue;
                step->verb = (enum script_verb)i;
                *wanted = wants[i];
                return take_rest(line + length + strspn(line + length, " \t"), step);
        }
        return -EINVAL;
}

static int add_line(struct script *script, size_t *capacity, const char *line, unsigned number, struct script_fault *fault)
{
        struct script_step step = { .line = number };
        const char *wanted;
        int err;

        if (script->n > 0 && script->steps[script->n - 1].verb == SCRIPT_END) {
                *fault = (struct script_fault){ number, N_("nothing after end") };
                return -EINVAL;
        }
        err = take_line(line, &step, &wanted);
        if (err == -EINVAL)
                *fault = (struct script_fault){ number, wanted };
        if (!err)
                err = util_grow(&script->steps, capacity, script->n + 1, sizeof(step));
        if (err) {
                free(step.text);
                return err;
        }
        script->steps[script->n++] = step;
        return 0;
}

/* A line without its comment and the blanks at its ends. -EINVAL: it is too long, or no text. */
static int copy_line(const char *text, size_t length, char line[SCRIPT_LINE_MAX])
{
        size_t from = 0;

        if (length >= SCRIPT_LINE_MAX || memchr(text, '\0', length))
                return -EINVAL;
        while (from < length && strchr(" \t", text[from]))
                from++;
        while (length > from && strchr(" \t\r", text[length - 1]))
                length--;
        memcpy(line, text + from, length - from);
        line[length - from] = '\0';
        if (*line == '#')
                *line = '\0';
        return 0;
}

int script_parse(const char *text, size_t length, struct script *ret, struct script_fault *fault)
{
        _cleanup_(script_clear) struct script script = { 0 };
        char line[SCRIPT_LINE_MAX];
        size_t capacity = 0;
        unsigned number = 0;

        for (size_t at = 0; at < length;) {
                const char *end = memchr(text + at, '\n', length - at);
                size_t line_length = end ? (size_t)(end - (text + at)) : length - at;
                int err = copy_line(text + at, line_length, line);

                number++;
                if (err)
                        *fault = (struct script_fault){ number, N_("a line of text of fewer than 4096 characters") };
                if (!err && *line)
                        err = add_line(&script, &capacity, line, number, fault);
                if (err)
                        return err;
                at += line_length + 1;
        }
        if (script.n == 0) {
                *fault = (struct script_fault){ MAX(number, 1u), N_("at least one step") };
                return -EINVAL;
        }
        *ret = script;
        script = (struct script){ 0 };
        return 0;
}

void script_clear(struct script *script)
{
        for (size_t i = 0; i < script->n; i++)
                free(script->steps[i].text);
        free(script->steps);
        *script = (struct script){ 0 };
}
