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
        [SCRIPT_PRESS] = "press",
        [SCRIPT_RELEASE] = "release",
        [SCRIPT_MOVE] = "move",
        [SCRIPT_SCROLL] = "scroll",
        [SCRIPT_SLEEP] = "sleep",
        [SCRIPT_WAIT_WINDOW] = "wait-window",
        [SCRIPT_WAIT_QUIET] = "wait-quiet",
        [SCRIPT_WAIT_TEXT] = "wait-text",
        [SCRIPT_CLOSE_WINDOW] = "close-window",
        [SCRIPT_END] = "end",
};

const char *const script_modifiers[SCRIPT_MODIFIERS] = { "ctrl", "shift", "alt", "super" };
const char *const script_wheel[SCRIPT_WHEEL_RIGHT - SCRIPT_WHEEL_UP + 1] = { "up", "down", "left", "right" };

#define BUTTON_WANTS N_("two numbers from 0 to 16383, and perhaps a button, as in: 100 50, or: 100 50 ctrl+3")

static const char *const wants[SCRIPT_END + 1] = {
        [SCRIPT_KEY] = N_("the name of a key, as in: key Return, or: key ctrl+s"),
        [SCRIPT_TYPE] = N_("text, as in: type hello"),
        [SCRIPT_CLICK] = BUTTON_WANTS,
        [SCRIPT_PRESS] = BUTTON_WANTS,
        [SCRIPT_RELEASE] = BUTTON_WANTS,
        [SCRIPT_MOVE] = N_("two numbers from 0 to 16383, as in: move 100 50"),
        [SCRIPT_SCROLL] = N_("two numbers from 0 to 16383 and up, down, left or right, as in: scroll 100 50 "
                             "down, or: scroll 100 50 down 3"),
        [SCRIPT_SLEEP] = N_("a time from 1ms to 3600s, as in: sleep 1s, or: sleep 200ms"),
        [SCRIPT_WAIT_WINDOW] = N_("a part of the window's title, as in: wait-window Editor"),
        [SCRIPT_WAIT_QUIET] = N_("a time from 1ms to 3600s, as in: wait-quiet 2s"),
        [SCRIPT_WAIT_TEXT] = N_("text that the program shows, as in: wait-text READY"),
        [SCRIPT_CLOSE_WINDOW] = N_("a part of the window's title, as in: close-window Editor"),
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
        if (util_parse_double(number, &value) < 0 || value * unit < NS_PER_MS ||
            value * unit > (double)SCRIPT_TIME_MAX_S * NS_PER_S)
                return -EINVAL;
        *ret = (uint64_t)(value * unit);
        return 0;
}

const char *script_take_modifiers(const char *word, unsigned *modifiers)
{
        *modifiers = 0;
        for (size_t i = 0; i < SCRIPT_MODIFIERS; i++) {
                size_t length = strlen(script_modifiers[i]);

                if (strncmp(word, script_modifiers[i], length) != 0 || word[length] != '+')
                        continue;
                *modifiers |= 1u << i;
                word += length + 1;
                i = (size_t)-1; /* they may be in any order */
        }
        return word;
}

static int take_pixels(const char *word, int *ret)
{
        uint64_t value;

        if (!word || util_parse_u64(word, &value) < 0 || value > SCRIPT_PIXELS_MAX)
                return -EINVAL;
        *ret = (int)value;
        return 0;
}

static int take_button(const char *word, struct script_step *step)
{
        uint64_t number;

        step->button = SCRIPT_BUTTON_FIRST;
        if (!word)
                return 0;
        if (util_parse_u64(script_take_modifiers(word, &step->modifiers), &number) < 0 ||
            number < SCRIPT_BUTTON_FIRST || number > SCRIPT_BUTTON_FORWARD ||
            (number > SCRIPT_BUTTON_THIRD && number < SCRIPT_BUTTON_BACK))
                return -EINVAL;
        step->button = (unsigned)number;
        return 0;
}

static int take_wheel(const char *word, const char *times, struct script_step *step)
{
        uint64_t count = 1;

        if (!word || (times && (util_parse_u64(times, &count) < 0 || count < 1 || count > SCRIPT_SCROLL_MAX)))
                return -EINVAL;
        step->count = (unsigned)count;
        word = script_take_modifiers(word, &step->modifiers);
        for (unsigned i = 0; i < ARRAY_SIZE(script_wheel); i++)
                if (strcmp(word, script_wheel[i]) == 0) {
                        step->button = SCRIPT_WHEEL_UP + i;
                        return 0;
                }
        return -EINVAL;
}

/* Reads where the pointer goes, and its action there. */
static int take_pointer(const char *rest, struct script_step *step)
{
        char text[64], *at = text, *words[5] = { NULL };
        size_t n = 0;

        if (strlen(rest) >= sizeof(text))
                return -EINVAL;
        memcpy(text, rest, strlen(rest) + 1);
        while (n < ARRAY_SIZE(words) && (words[n] = strtok_r(at, " \t", &at)))
                n++;
        if (take_pixels(words[0], &step->x) < 0 || take_pixels(words[1], &step->y) < 0)
                return -EINVAL;
        if (step->verb == SCRIPT_SCROLL)
                return n > 4 ? -EINVAL : take_wheel(words[2], words[3], step);
        if (step->verb == SCRIPT_MOVE)
                return n > 2 ? -EINVAL : 0;
        return n > 3 ? -EINVAL : take_button(words[2], step);
}

/* Reads the rest of a step, after the verb. */
static int take_rest(const char *rest, struct script_step *step)
{
        switch (step->verb) {
        case SCRIPT_SLEEP:
        case SCRIPT_WAIT_QUIET:
                return take_time(rest, &step->ns);
        case SCRIPT_CLICK:
        case SCRIPT_PRESS:
        case SCRIPT_RELEASE:
        case SCRIPT_MOVE:
        case SCRIPT_SCROLL:
                return take_pointer(rest, step);
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

        *wanted = N_(
                "one of: key, type, click, press, release, move, scroll, sleep, wait-window, wait-quiet, "
                "wait-text, close-window, end");
        for (size_t i = 0; i < ARRAY_SIZE(script_verbs); i++) {
                if (strlen(script_verbs[i]) != length || strncmp(line, script_verbs[i], length) != 0)
                        continue;
                step->verb = (enum script_verb)i;
                *wanted = wants[i];
                return take_rest(line + length + strspn(line + length, " \t"), step);
        }
        return -EINVAL;
}

static int add_line(struct script *script, size_t *capacity, const char *line, unsigned number,
                    struct script_fault *fault)
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

/* Copies a line without the blanks at its ends; a comment becomes "". -EINVAL: it is too long, or no text. */
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
