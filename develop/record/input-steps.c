/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/script.h"
#include "input-steps.h"
#include "util/util.h"

#define PAUSE_LEAST_MS 50u   /* shorter pauses are not written: a player leaves 20 ms between two steps anyway */
#define PAUSE_MOST_MS 3600000u
#define QUIET_MS 200u        /* after so long without changes the program had answered; a slower one gets more time */
#define MOVE_EVERY_MS 100u   /* least interval of moves, so that things below the pointer still change */
#define DRAG_EVERY_MS 40u
#define CLICK_PIXELS 4       /* a pointer that moves by no more than this is still, as a hand shakes */

static void write_modifiers(struct input_steps *steps, unsigned modifiers)
{
        for (size_t i = 0; i < SCRIPT_MODIFIERS; i++)
                if (modifiers & 1u << i)
                        fprintf(steps->out, "%s+", script_modifiers[i]);
}

/* Writes the letters that are held back; blanks at the end are written as keys, as a script does not keep them. */
static void flush_typed(struct input_steps *steps)
{
        size_t n = steps->n_typed, blanks = 0;

        while (n > 0 && steps->typed[n - 1] == ' ') {
                n--;
                blanks++;
        }
        if (n > 0)
                fprintf(steps->out, "type %.*s\n", (int)n, steps->typed);
        for (; blanks > 0; blanks--)
                fputs("key space\n", steps->out);
        steps->n_typed = 0;
}

static void write_button(struct input_steps *steps, enum script_verb verb, const struct input *in)
{
        fprintf(steps->out, "%s %d %d", script_verbs[verb], in->x, in->y);
        if (in->modifiers || in->button != SCRIPT_BUTTON_FIRST) {
                fputc(' ', steps->out);
                write_modifiers(steps, in->modifiers);
                fprintf(steps->out, "%u", in->button);
        }
        fputc('\n', steps->out);
}

static void flush_held(struct input_steps *steps)
{
        if (!steps->held.button)
                return;
        write_button(steps, SCRIPT_PRESS, &steps->held);
        steps->held_buttons |= 1u << steps->held.button;
        steps->moved_ms = steps->held.time_ms;
        steps->held.button = 0;
}

static void flush_wheel(struct input_steps *steps)
{
        if (steps->n_wheel == 0)
                return;
        fprintf(steps->out, "scroll %d %d ", steps->wheel.x, steps->wheel.y);
        write_modifiers(steps, steps->wheel.modifiers);
        fputs(script_wheel[steps->wheel.button - SCRIPT_WHEEL_UP], steps->out);
        if (steps->n_wheel > 1)
                fprintf(steps->out, " %u", steps->n_wheel);
        fputc('\n', steps->out);
        steps->n_wheel = 0;
}

void input_steps_end(struct input_steps *steps)
{
        flush_typed(steps);
        flush_held(steps);
        flush_wheel(steps);
}

static uint32_t pause_before(const struct input_steps *steps, uint32_t time_ms)
{
        int32_t pause = (int32_t)(time_ms - steps->last_ms);

        return pause > 0 ? (uint32_t)pause : 0;
}

static bool is_other_window(const struct input_steps *steps, const struct input *in)
{
        return in->window && in->window->id != steps->window;
}

/* The window may come later in another run, so it is waited for; the pause then counts from when it came. */
static void change_window(struct input_steps *steps, const struct input_window *window)
{
        bool first = steps->window == 0;

        if (*window->title)
                fprintf(steps->out, "# a window of %dx%d\nwait-window %s\n", window->width, window->height,
                        window->title);
        else
                fputs("# a window without a title: pixels are of the one before\n", steps->out);
        if (first || (int32_t)(window->since_ms - steps->last_ms) > 0)
                steps->last_ms = window->since_ms;
        steps->window = window->id;
}

/* Writes all that comes before a step: the steps that are held back, its window and its pause. */
static void begin(struct input_steps *steps, const struct input *in)
{
        uint32_t pause;

        input_steps_end(steps);
        if (is_other_window(steps, in))
                change_window(steps, in->window);
        pause = MIN(pause_before(steps, in->time_ms), PAUSE_MOST_MS);
        if (pause >= 2 * QUIET_MS && in->quiet_ms > QUIET_MS)
                fprintf(steps->out, "sleep %ums\nwait-quiet %ums\n", pause - QUIET_MS, QUIET_MS);
        else if (pause >= PAUSE_LEAST_MS)
                fprintf(steps->out, "sleep %ums\n", pause);
        steps->last_ms = in->time_ms;
}

static void add_key(struct input_steps *steps, const struct input *in)
{
        bool text = in->letter && !(in->modifiers & ~(unsigned)SCRIPT_SHIFT);
        size_t length = text ? strlen(in->letter) : 0;
        bool joined = text && steps->n_typed > 0 && steps->n_typed + length < INPUT_TYPED_MAX &&
                      !is_other_window(steps, in) && pause_before(steps, in->time_ms) < PAUSE_LEAST_MS;

        if (!joined)
                begin(steps, in);
        if (joined || (text && strcmp(in->letter, " ") != 0)) {
                memcpy(steps->typed + steps->n_typed, in->letter, length);
                steps->n_typed += length;
                steps->last_ms = in->time_ms;
                return;
        }
        fputs("key ", steps->out);
        write_modifiers(steps, in->modifiers);
        fprintf(steps->out, "%s\n", in->key);
}

static bool is_wheel(unsigned button)
{
        return button >= SCRIPT_WHEEL_UP && button <= SCRIPT_WHEEL_RIGHT;
}

static void add_wheel(struct input_steps *steps, const struct input *in)
{
        const struct input *wheel = &steps->wheel;
        bool joined = steps->n_wheel > 0 && steps->n_wheel < SCRIPT_SCROLL_MAX && wheel->button == in->button &&
                      wheel->modifiers == in->modifiers && !is_other_window(steps, in) &&
                      pause_before(steps, in->time_ms) < PAUSE_LEAST_MS;

        if (!joined)
                begin(steps, in);
        steps->last_ms = in->time_ms;
        steps->wheel = *in;
        steps->n_wheel++;
}

static void add_press(struct input_steps *steps, const struct input *in)
{
        begin(steps, in);
        steps->held = *in;
}

static bool is_near(const struct input *in, int x, int y)
{
        return abs(in->x - x) <= CLICK_PIXELS && abs(in->y - y) <= CLICK_PIXELS;
}

static void add_release(struct input_steps *steps, const struct input *in)
{
        struct input release = *in;

        if (steps->held.button == in->button && is_near(in, steps->held.x, steps->held.y)) {
                write_button(steps, SCRIPT_CLICK, &steps->held);
                steps->held.button = 0;
                return;
        }
        flush_held(steps);
        if (!(steps->held_buttons & 1u << in->button))
                return; /* it was pressed in another program */
        /* A drag that leaves its window, or closes a menu, is one of the window where it began. */
        release.window = NULL;
        begin(steps, &release);
        write_button(steps, SCRIPT_RELEASE, in);
        steps->held_buttons &= ~(1u << in->button);
}

static void add_move(struct input_steps *steps, const struct input *in)
{
        struct input move = *in;
        bool drag;

        if (steps->held.button) {
                if (is_near(in, steps->held.x, steps->held.y))
                        return;
                flush_held(steps);
        }
        drag = steps->held_buttons != 0;
        if (!drag && is_other_window(steps, in) && !*in->window->title)
                return;
        if (in->time_ms - steps->moved_ms < (drag ? DRAG_EVERY_MS : MOVE_EVERY_MS) ||
            is_near(in, steps->moved_x, steps->moved_y))
                return;
        if (drag)
                move.window = NULL;
        begin(steps, &move);
        fprintf(steps->out, "move %d %d\n", in->x, in->y);
        steps->moved_ms = in->time_ms;
        steps->moved_x = in->x;
        steps->moved_y = in->y;
}

/* Clamps the place of an input, as a script has no pixels left of a window or above it. */
static struct input within(const struct input *in)
{
        struct input inside = *in;

        inside.x = MIN(MAX(in->x, 0), SCRIPT_PIXELS_MAX);
        inside.y = MIN(MAX(in->y, 0), SCRIPT_PIXELS_MAX);
        return inside;
}

void input_steps_add(struct input_steps *steps, const struct input *in)
{
        const struct input inside = within(in);

        steps->n += in->kind != INPUT_MOVE && in->kind != INPUT_RELEASE;
        switch (in->kind) {
        case INPUT_KEY:
                add_key(steps, &inside);
                break;
        case INPUT_PRESS:
                if (is_wheel(in->button))
                        add_wheel(steps, &inside);
                else if (in->button <= SCRIPT_BUTTON_FORWARD)
                        add_press(steps, &inside);
                break;
        case INPUT_RELEASE:
                if (!is_wheel(in->button) && in->button <= SCRIPT_BUTTON_FORWARD)
                        add_release(steps, &inside);
                break;
        case INPUT_MOVE:
                add_move(steps, &inside);
                break;
        case INPUT_CLOSE:
                begin(steps, &inside);
                if (in->window && *in->window->title)
                        fprintf(steps->out, "close-window %s\n", in->window->title);
                break;
        }
}
