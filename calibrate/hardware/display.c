/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The display as a part: brightness by its backlight, its picture or off by joulecast-picture. If that cannot
 * switch the screen, only the backlight is switched; if neither can, the dimmest level stays on.
 */

#include "source/display.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "backlight.h"
#include "display-part.h"
#include "hold/screen-program.h"
#include "util/util.h"

#define POWER "screen:power"
#define STARTS_MAX 5 /* starts of the program in one calibration, before it is given up */

struct display {
        struct part part; /* first */
        int root_fd;
        const struct log *log;
        struct backlight backlight;
        const char *program;          /* NULL: not used */
        struct screen_program screen;
        unsigned starts;
        struct settings *settings;    /* between prepare() and stop() */
        bool journalled;              /* the screen was lit and will be lit again */
        const char *shown;            /* the mode's picture: "on" (white), "grey", "black", "off"; NULL: no mode */
        bool told_dim, told_white, told_picture, told_state;
};

static struct display *display_of(struct part *part)
{
        return (struct display *)part;
}

static int describe(struct part *part, struct hardware_description *description)
{
        const struct display *display = display_of(part);

        description->max_brightness = display->backlight.max;
        description->pictures = display->backlight.max > 0 && display->program;
        return 0;
}

/* A screen that was dark may stay dark; one that was lit must be lit again, whoever is killed. */
static int prepare(struct part *part, struct settings *settings)
{
        struct display *display = display_of(part);
        struct display_state state;

        display->settings = settings;
        display->starts = 0;
        display->journalled = display->program && display_look(display->root_fd, &state) == 0 &&
                              state.screen_known && display_is_lit(&state) && settings_add(settings, POWER) == 0;
        return backlight_prepare(&display->backlight, settings);
}

static void start_program(struct display *display)
{
        if (!display->program || display->screen.program.pid || display->starts >= STARTS_MAX)
                return;
        display->starts++;
        if (screen_program_start(display->program, &display->screen) < 0)
                display->starts = STARTS_MAX;
        if (display->screen.white || display->told_white || !display->backlight.max)
                return;
        display->told_white = true;
        log_info(display->log,
                 "no white picture can be shown on this screen: only brightness is varied");
}

/* Compares the program's state with the kernel's, because the fit uses the kernel's. */
static void compare(struct display *display, bool on)
{
        struct display_state state;

        if (display->told_state || display_look(display->root_fd, &state) < 0 || !state.screen_known ||
            display_is_lit(&state) == on)
                return;
        display->told_state = true;
        log_warning(display->log,
                    "the screen was switched %s, but the kernel shows it %s; the kernel's state is used",
                    on ? "on" : "off", on ? "off" : "on");
}

static bool is_on(const char *word)
{
        return strcmp(word, "off") != 0;
}

static int show(struct display *display, const char *word)
{
        bool journal, on = is_on(word);
        int err, after = 0;

        start_program(display);
        if (!display->screen.program.pid)
                return -EOPNOTSUPP;
        journal = display->journalled && display->screen.can_switch;
        err = journal ? settings_before(display->settings, POWER, on ? "on" : "off") : 0;
        if (err)
                return err;
        err = screen_program_show(&display->screen, word);
        if (journal)
                after = settings_after(display->settings, POWER);
        if (!err && (on || display->screen.can_switch))
                compare(display, on);
        return err ? err : after ? after : on || display->screen.can_switch ? 0 : -EOPNOTSUPP;
}

/* White falls back to a lit screen; a black or grey picture that cannot be shown must not be measured. */
static int switch_on(struct display *display, uint32_t brightness)
{
        bool white = strcmp(display->shown, "on") == 0;
        int err = display->backlight.max ? backlight_hold(&display->backlight, brightness) : 0;

        if (!err)
                err = show(display, display->shown);
        if (white)
                return err == -EOPNOTSUPP || err == -EPIPE ? 0 : err;
        if (err == -EOPNOTSUPP && !display->told_picture) {
                log_info(display->log, "no black picture can be shown on this screen: how much of its power the "
                                       "picture makes stays unknown");
                display->told_picture = true;
        }
        return err;
}

static int switch_off(struct display *display)
{
        int err = show(display, "off");

        backlight_let_go(&display->backlight);
        if (err != -EOPNOTSUPP && err != -EPIPE)
                return err;
        err = backlight_switch(&display->backlight, false);
        if (err != -EOPNOTSUPP)
                return err;
        if (!display->told_dim)
                log_warning(display->log,
                            "the screen cannot be switched off: its power at the lowest brightness becomes "
                            "part of the base");
        display->told_dim = true;
        return display->backlight.max ? backlight_hold(&display->backlight, 1) : 0;
}

static int apply(struct part *part, const struct mode *mode)
{
        struct display *display = display_of(part);

        display->shown = !mode->screen_on ? "off" : mode->dark >= 1 ? "black" : mode->dark > 0 ? "grey" : "on";
        return mode->screen_on ? switch_on(display, mode->brightness) : switch_off(display);
}

/* Somebody switched consoles or ended the program: start it again. */
static int check(struct part *part)
{
        struct display *display = display_of(part);
        int err = backlight_check(&display->backlight);

        if (err || !display->shown || !display->screen.program.pid ||
            program_lives(&display->screen.program))
                return err;
        screen_program_end(&display->screen);
        log_warning(display->log, "the screen was lost; taking it again");
        return is_on(display->shown) ? switch_on(display, display->backlight.held) : switch_off(display);
}

static void stop(struct part *part)
{
        struct display *display = display_of(part);

        screen_program_end(&display->screen);
        display->screen = (struct screen_program){ 0 };
        backlight_let_go(&display->backlight);
        display->settings = display->backlight.settings = NULL;
        display->shown = NULL;
}

static void close_display(struct part *part)
{
        stop(part);
        closep(&display_of(part)->root_fd);
        free(part);
}

static const struct part_ops display_ops = {
        .name = "display",
        .describe = describe,
        .prepare = prepare,
        .apply = apply,
        .check = check,
        .stop = stop,
        .close = close_display,
};

int display_part_open(int root_fd, const char *program, const struct machine_hardware *machine,
                      struct part **ret)
{
        struct display_state state;
        struct display *display;
        int err = display_look(root_fd, &state);

        if (err)
                return err;
        display = calloc(1, sizeof(*display));
        if (!display)
                return -ENOMEM;
        display->part.ops = &display_ops;
        display->log = machine->log;
        display->program = program;
        display->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        if (display->root_fd < 0) {
                err = -errno;
                free(display);
                return err;
        }
        backlight_init(&display->backlight, display->root_fd, &state, machine->log);
        if (state.backlight[0] && !state.certain)
                log_warning(machine->log, "the display is left out: several backlights may be the built-in screen's; "
                                          "`joulecast doctor` lists them, and backlight = NAME in joulecast.conf"
                                          " chooses");
        *ret = &display->part;
        return 0;
}

int hardware_display_open(const struct machine_hardware *machine, struct part **ret)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return root_fd < 0 ? -errno : display_part_open(root_fd, "joulecast-picture", machine, ret);
}
