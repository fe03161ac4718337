/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Scripts of input: their text, what keys and a pointer become in them, and the keys that play them. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "harness/script.h"
#include "record/input-steps.h"
#include "record/letter.h"
#include "record/terminal-keys.h"
#include "record/us-keyboard.h"
#include "util/text.h"

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
        static const char text[] = "# a comment\n\n  key ctrl+s \r\ntype hello  world\nclick 10 20\n"
                                   "sleep 1.5s\nwait-window Editor\n"
                                   "wait-quiet 200ms\nwait-text # READY\nclick 1 2 shift+ctrl+3\n"
                                   "scroll 3 4 alt+left 12\nmove  5\t6\n"
                                   "press 7 8\nrelease 9 9 8\nclose-window An Editor\nend";
        struct script script;
        struct script_fault fault;

        check_int(script_parse(text, sizeof(text) - 1, &script, &fault), 0);
        check_int(script.n, 14);
        check_text(script.steps[0].text, "ctrl+s");
        check_int(script.steps[0].line, 3);
        check_text(script.steps[1].text, "hello  world");
        check_int(script.steps[2].x, 10);
        check_int(script.steps[2].y, 20);
        check_int(script.steps[3].ns, 1500000000);
        check_int(script.steps[5].ns, 200000000);
        check_text(script.steps[6].text, "# READY");
        check_int(script.steps[2].button, SCRIPT_BUTTON_FIRST);
        check_int(script.steps[7].button, SCRIPT_BUTTON_THIRD);
        check_int(script.steps[7].modifiers, SCRIPT_CTRL | SCRIPT_SHIFT);
        check_int(script.steps[8].button, SCRIPT_WHEEL_LEFT);
        check_int(script.steps[8].modifiers, SCRIPT_ALT);
        check_int(script.steps[8].count, 12);
        check_int(script.steps[9].y, 6);
        check_int(script.steps[11].button, SCRIPT_BUTTON_BACK);
        check_text(script.steps[12].text, "An Editor");
        check_int(script.steps[13].verb, SCRIPT_END);
        script_clear(&script);
        check_fault("", 1);
        check_fault("# nothing\n", 1);
        check_fault("key\n", 1);
        check_fault("type a\nkeys b\n", 2);
        check_fault("click 1\n", 1);
        check_fault("click 1 99999\n", 1);
        check_fault("click -1 1\n", 1);
        check_fault("click 1 1 4\n", 1); /* the wheel */
        check_fault("click 1 1 0\n", 1);
        check_fault("click 1 1 hyper+1\n", 1);
        check_fault("click 1 1 1 1\n", 1);
        check_fault("move 1 1 1\n", 1);
        check_fault("scroll 1 1\n", 1);
        check_fault("scroll 1 1 in\n", 1);
        check_fault("scroll 1 1 up 0\n", 1);
        check_fault("scroll 1 1 up 1 1\n", 1);
        check_fault("close-window\n", 1);
        check_fault("sleep 1\n", 1);
        check_fault("sleep 0s\n", 1);
        check_fault("sleep 99999s\n", 1);
        check_fault("end now\n", 1);
        check_fault("end\n\ntype a\n", 3);
}

static void check_typed(const char *typed, size_t unknown, const char *steps)
{
        struct text_kept kept = { 0 };
        FILE *out = text_open(&kept);
        char *made;

        check_int(terminal_keys_steps(typed, strlen(typed), out), unknown);
        made = text_close(out, &kept);
        check_text(made, steps);
        free(made);
}

static const struct input_window window = { 1, "Main", 900, 300, 200 }, dialog = { 2, "Dialog", 7000, 100, 50 };

/* Compares the script that is made of inputs, one after another. */
static void check_steps(const struct input *inputs, size_t n, const char *script)
{
        struct text_kept kept = { 0 };
        struct input_steps steps = { .out = text_open(&kept) };
        char *made;

        for (size_t i = 0; i < n; i++)
                input_steps_add(&steps, &inputs[i]);
        input_steps_end(&steps);
        made = text_close(steps.out, &kept);
        check_text(made, script);
        free(made);
}

#define CHECK_STEPS(script, ...)                                                                             \
        check_steps((const struct input[]){ __VA_ARGS__ },                                                   \
                    sizeof((const struct input[]){ __VA_ARGS__ }) / sizeof(struct input), script)
#define MAIN "# a window of 300x200\nwait-window Main\n"
#define KEY(ms, name, text) { .kind = INPUT_KEY, .time_ms = ms, .window = &window, .key = name, .letter = text }
#define BUTTON(what, ms, at_x, at_y, number)                                                                 \
        {                                                                                                    \
                .kind = what, .time_ms = ms, .window = &window, .x = at_x, .y = at_y, .button = number       \
        }

static void check_input_steps(void)
{
        CHECK_STEPS("", BUTTON(INPUT_RELEASE, 1000, 1, 1, 1)); /* it was pressed elsewhere */
        /* Letters are one line if they come at once; blanks at the ends are keys, as a line does not keep them. */
        CHECK_STEPS(MAIN "sleep 100ms\ntype a b\nkey space\nkey space\nkey Return\nsleep 50ms\ntype c\n",
                    KEY(1000, "a", "a"), KEY(1010, "space", " "), KEY(1020, "b", "b"),
                    KEY(1030, "space", " "), KEY(1040, "space", " "), KEY(1050, "Return", NULL),
                    KEY(1100, "c", "c"));
        CHECK_STEPS(MAIN "key space\nkey ctrl+s\nkey alt+super+F4\ntype A\n", KEY(900, "space", " "),
                    { .kind = INPUT_KEY, .time_ms = 900, .key = "s", .letter = "s", .modifiers = SCRIPT_CTRL },
                    { .kind = INPUT_KEY, .time_ms = 900, .key = "F4", .modifiers = SCRIPT_ALT | SCRIPT_SUPER },
                    { .kind = INPUT_KEY, .time_ms = 900, .key = "A", .letter = "A" });
        /* Where the program was quiet before the user went on, it is waited for. */
        CHECK_STEPS(MAIN "type a\nsleep 1800ms\nwait-quiet 200ms\ntype b\nsleep 2000ms\ntype c\nsleep 399ms\n"
                         "type d\n", KEY(900, "a", "a"),
                    { .kind = INPUT_KEY, .time_ms = 2900, .key = "b", .letter = "b", .quiet_ms = 300 },
                    { .kind = INPUT_KEY, .time_ms = 4900, .key = "c", .letter = "c", .quiet_ms = 100 },
                    { .kind = INPUT_KEY, .time_ms = 5299, .key = "d", .letter = "d", .quiet_ms = 399 });
        /* The clock wraps. A pause is at most as long as a script may have it. */
        CHECK_STEPS("sleep 200ms\ntype a\n", { .kind = INPUT_KEY, .time_ms = 200, .key = "a", .letter = "a" });
        CHECK_STEPS("sleep 3600000ms\ntype a\n",
                    { .kind = INPUT_KEY, .time_ms = 2000000000, .key = "a", .letter = "a" });
        /* A hand that trembles clicks; one that moves drags. */
        CHECK_STEPS(MAIN "click 10 20\nsleep 200ms\npress 10 20 ctrl+3\nsleep 60ms\nmove 30 40\nsleep 100ms\n"
                         "release 50 0 ctrl+3\n",
                    BUTTON(INPUT_PRESS, 900, 10, 20, 1), BUTTON(INPUT_MOVE, 940, 12, 18, 0),
                    BUTTON(INPUT_RELEASE, 1000, 12, 18, 1),
                    { .kind = INPUT_PRESS,
                      .time_ms = 1100,
                      .x = 10,
                      .y = 20,
                      .button = 3,
                      .modifiers = SCRIPT_CTRL },
                    BUTTON(INPUT_MOVE, 1160, 30, 40, 0), BUTTON(INPUT_MOVE, 1170, 40, 50, 0),
                    { .kind = INPUT_RELEASE,
                      .time_ms = 1260,
                      .x = 50,
                      .y = -7,
                      .button = 3,
                      .modifiers = SCRIPT_CTRL });
        CHECK_STEPS(MAIN "scroll 5 6 down 2\nscroll 5 6 shift+down\nsleep 100ms\nscroll 5 6 up\n",
                    BUTTON(INPUT_PRESS, 900, 5, 6, 5), BUTTON(INPUT_RELEASE, 900, 5, 6, 5),
                    BUTTON(INPUT_PRESS, 920, 5, 6, 5), BUTTON(INPUT_RELEASE, 920, 5, 6, 5),
                    { .kind = INPUT_PRESS,
                      .time_ms = 930,
                      .x = 5,
                      .y = 6,
                      .button = 5,
                      .modifiers = SCRIPT_SHIFT },
                    BUTTON(INPUT_PRESS, 1030, 5, 6, 4));
        /* Motion is thinned. */
        CHECK_STEPS(MAIN "move 10 10\nsleep 100ms\nmove 40 40\n", BUTTON(INPUT_MOVE, 900, 10, 10, 0),
                    BUTTON(INPUT_MOVE, 930, 20, 20, 0), BUTTON(INPUT_MOVE, 960, 30, 30, 0),
                    BUTTON(INPUT_MOVE, 1000, 40, 40, 0), BUTTON(INPUT_MOVE, 1200, 41, 41, 0));
        /* The pause before something in a window that is new counts from when it came. */
        CHECK_STEPS(MAIN "sleep 100ms\nkey F1\n# a window of 100x50\nwait-window Dialog\nsleep 1000ms\nkey Return\n",
                    KEY(1000, "F1", NULL), { .kind = INPUT_KEY, .time_ms = 8000, .window = &dialog, .key = "Return" });
        CHECK_STEPS(MAIN "sleep 100ms\nclose-window Main\n",
                    { .kind = INPUT_CLOSE, .time_ms = 1000, .window = &window });
}

static void check_letter(const char *text, long letter)
{
        char written[LETTER_BYTES_MAX];
        const char *at = text;

        check_int(letter_next(&at), letter);
        if (letter < 0)
                return;
        check(!*at);
        letter_write((unsigned long)letter, written);
        check_text(written, text);
}

static void check_letters(void)
{
        check_letter("a", 'a');
        check_letter("\303\244", 0xe4);
        check_letter("\342\202\254", 0x20ac);
        check_letter("\360\237\230\200", 0x1f600);
        check_letter("\303", -1);
        check_letter("\244", -1);
        check_letter("\300\200", -1);
        check_letter("\370\210\200\200\200", -1);
}

static void check_us_key(const char *name, unsigned code, bool shifted)
{
        struct us_key key = { 0 };

        check(us_keyboard_name(name, &key) == (code > 0));
        check_int(key.code, code);
        check_int(key.shifted, shifted);
}

static void check_us_keyboard(void)
{
        struct us_keyboard keyboard = { .n = 0 };
        char keymap[US_KEYBOARD_KEYMAP_MAX];
        struct us_key key;

        check_us_key("a", 30, false);
        check_us_key("A", 30, true);
        check_us_key("|", 43, true);
        check_us_key("/", 53, false);
        check_us_key("plus", 13, true);
        check_us_key("Return", 28, false);
        check_us_key("ISO_Left_Tab", 15, true);
        check_us_key("Hyper", 0, false);
        check_us_key("", 0, false);
        for (long letter = ' '; letter < 0x7f; letter++)
                check(us_keyboard_letter(&keyboard, letter, false, &key) && key.code > 0);
        check(!us_keyboard_letter(&keyboard, 0x7f, true, &key) && !us_keyboard_letter(&keyboard, 0x85, true, &key));
        check(!us_keyboard_letter(&keyboard, 0xe4, false, &key));
        for (long i = 0; i < US_KEYBOARD_LETTERS_MAX; i++)
                check(us_keyboard_letter(&keyboard, 0xe4 + i, true, &key) && key.code == 183 + (unsigned)i &&
                      !key.shifted);
        check(us_keyboard_letter(&keyboard, 0xe5, false, &key) && key.code == 184);
        check(!us_keyboard_letter(&keyboard, 0x20ac, true, &key));
        us_keyboard_keymap(&keyboard, keymap);
        check(strstr(keymap, "replace key <FK24> { [ U00EF ] };\n};\n};\n") != NULL);
}

static void check_keys(void)
{
        char keys[TERMINAL_KEYS_MAX];

        check(terminal_keys_send("ctrl+c", keys) && strcmp(keys, "\003") == 0);
        check(terminal_keys_send("Up", keys) && strcmp(keys, "\033[A") == 0);
        check(terminal_keys_send("a", keys) && strcmp(keys, "a") == 0);
        check(!terminal_keys_send("Hyper", keys) && !terminal_keys_send("", keys) &&
              !terminal_keys_send("ctrl+", keys));
        check_typed("echo  a b\r", 0, "type echo  a b\nkey Return\n");
        check_typed(" a ", 0, "key space\ntype a\nkey space\n");
        check_typed("\033[A\033OB\177\t\003", 0, "key Up\nkey Down\nkey BackSpace\nkey Tab\nkey ctrl+c\n");
        check_typed("\033", 0, "key Escape\n");
        check_typed("a\033[1;5Cb\033x\034", 9, "type a\ntype b\n");
        check_typed("# \303\244", 0, "type # \303\244\n");
}

int main(void)
{
        check_script();
        check_input_steps();
        check_letters();
        check_us_keyboard();
        check_keys();
        return check_result();
}
