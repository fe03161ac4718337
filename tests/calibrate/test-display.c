/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The display of a calibration on trees: the backlight that it drives, values that it writes, and its reaction to a
 * driver.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "check.h"
#include "hardware/display-part.h"
#include "source/display.h"
#include "tree.h"

#define PANEL "sys/class/backlight/panel"
#define CONNECTOR "sys/class/drm/card0-eDP-1"

/* In the place of joulecast-picture: it switches the tree's connector, and lights it on its way out. */
static const char program_switching[] =
        "#!/bin/sh\n"
        "cd \"$(dirname \"$0\")\" || exit 1\n"
        "echo screen kms white switch\n"
        "while read -r word; do\n"
        "        if [ \"$word\" = off ]; then echo Off; else echo On; fi > " CONNECTOR "/dpms\n"
        "        echo \"$word\" >> words\n"
        "        echo $$ > pid\n"
        "        echo \"$word\"\n"
        "done\n"
        "echo On > " CONNECTOR "/dpms\n";

/* A compositor that cannot switch, and one that only offers to. */
static const char program_white[] = "#!/bin/sh\necho screen wayland white\n"
                                    "while read -r word; do echo \"$word\"; done\n";
static const char program_failing[] = "#!/bin/sh\necho screen wayland white switch\n"
                                      "while read -r word; do if [ $word = on ]; then echo on; else echo "
                                      "failed; fi; done\n";
static const char program_none[] = "#!/bin/sh\nexit 1\n";

struct desk {
        char dir[64], journal[96], program[96], said[1024];
        bool has_program;
        struct log log;
        int root_fd;
        struct settings *settings;
        struct part *part;
};

static void keep(void *data, enum log_level level, const char *sentence)
{
        struct desk *desk = data;

        snprintf(desk->said, sizeof(desk->said), "%s", sentence);
}

static void put(const struct desk *desk, const char *path, const char *text)
{
        check(tree_write(desk->dir, path, text, strlen(text)));
}

static const char *get(const struct desk *desk, const char *path)
{
        static char text[64];

        check(util_read_at(desk->root_fd, path, text, sizeof(text)) >= 0);
        text[strcspn(text, "\n")] = '\0';
        return text;
}

static void put_backlight(const struct desk *desk, const char *name, const char *type, const char *max)
{
        const char *const files[][2] = {
                { "type", type }, { "max_brightness", max }, { "brightness", "7\n" }, { "bl_power", "0\n" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                char path[128];

                snprintf(path, sizeof(path), "sys/class/backlight/%s/%s", name, files[i][0]);
                put(desk, path, files[i][1]);
        }
}

static void make(struct desk *desk)
{
        *desk = (struct desk){ .log = { .handler = keep, .data = desk } };
        snprintf(desk->dir, sizeof(desk->dir), "/tmp/joulecast-display-XXXXXX");
        check(mkdtemp(desk->dir) != NULL);
        snprintf(desk->program, sizeof(desk->program), "%s/program", desk->dir);
        snprintf(desk->journal, sizeof(desk->journal), "%s/journal/restore.ini", desk->dir);
        desk->root_fd = open(desk->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put_program(struct desk *desk, const char *text)
{
        put(desk, "program", text);
        check_int(chmod(desk->program, 0755), 0);
        desk->has_program = true;
}

static void put_panel(const struct desk *desk)
{
        put_backlight(desk, "panel", "firmware\n", "100\n");
        put(desk, CONNECTOR "/status", "connected\n");
        put(desk, CONNECTOR "/enabled", "enabled\n");
        put(desk, CONNECTOR "/dpms", "On\n");
}

static int open_part(struct desk *desk)
{
        const struct machine_hardware machine = { .log = &desk->log };

        return display_part_open(desk->root_fd, desk->has_program ? desk->program : NULL, &machine,
                                 &desk->part);
}

static void begin(struct desk *desk)
{
        check_int(open_part(desk), 0);
        check_int(settings_open(desk->root_fd, desk->journal, &desk->log, &desk->settings), 0);
        check_int(desk->part->ops->prepare(desk->part, desk->settings), 0);
        check_int(settings_commit(desk->settings), 0);
}

static void end(struct desk *desk)
{
        if (desk->part)
                desk->part->ops->close(desk->part);
        settings_close(desk->settings);
        close(desk->root_fd);
        tree_remove(desk->dir);
}

static int light(struct desk *desk, bool on, uint32_t brightness)
{
        const struct mode mode = { .screen_on = on, .brightness = brightness };

        return desk->part->ops->apply(desk->part, &mode);
}

static int look_again(struct desk *desk)
{
        return (desk->part->ops->check)(desk->part); /* in brackets: not the macro of that name */
}

/* Samples read the same backlight, and show the requested values. */
static void check_seen(const struct desk *desk, bool on, uint32_t brightness)
{
        struct display_state state;

        check_int(display_look(desk->root_fd, &state), 0);
        check_int(state.screen_on, on);
        if (on)
                check_int(state.brightness, brightness);
}

static void test_levels(void)
{
        struct desk desk;
        struct hardware_description description = { 0 };

        make(&desk);
        put_backlight(&desk, "raw_panel", "raw\n", "96000\n");
        put_backlight(&desk, "panel", "firmware\n", "15\n");
        begin(&desk);
        check_int(desk.part->ops->describe(desk.part, &description), 0);
        check_int(description.max_brightness, 15);
        check_int(light(&desk, true, 12), 0);
        check_seen(&desk, true, 12);
        check_int(light(&desk, false, 0), 0);
        check_text(get(&desk, PANEL "/bl_power"), "4");
        check_seen(&desk, false, 0);
        check_int(light(&desk, true, 0), 0); /* never 0 */
        check_text(get(&desk, PANEL "/brightness"), "1");
        check_text(get(&desk, PANEL "/bl_power"), "0");
        check_int(light(&desk, true, 99), 0);
        check_seen(&desk, true, 15);
        check_text(get(&desk, "sys/class/backlight/raw_panel/brightness"), "7");
        check_text(desk.said, "");
        end(&desk);
}

static void test_somebody_else(void)
{
        struct desk desk;

        make(&desk);
        put_backlight(&desk, "panel", "platform\n", "255\n");
        begin(&desk);
        check_int(light(&desk, true, 178), 0);
        check_int(look_again(&desk), 0);
        check_text(desk.said, "");
        put(&desk, PANEL "/brightness", "90\n");
        check_int(look_again(&desk), 0);
        check(strstr(desk.said, "from 178 to 90") != NULL);
        check_seen(&desk, true, 178);
        put(&desk, PANEL "/brightness", "91\n"); /* repeated changes are reported once */
        desk.said[0] = '\0';
        check_int(look_again(&desk), 0);
        check_text(desk.said, "");
        check_seen(&desk, true, 178);
        check_int(light(&desk, false, 0), 0);
        put(&desk, PANEL "/brightness", "90\n"); /* dark: changes do not matter */
        desk.said[0] = '\0';
        check_int(look_again(&desk), 0);
        check_text(desk.said, "");
        end(&desk);
}

static void test_none(void)
{
        struct desk desk;

        make(&desk);
        check_int(open_part(&desk), -ENODEV);
        put_backlight(&desk, "panel", "raw\n", "0\n"); /* an empty scale */
        check_int(open_part(&desk), -ENODEV);
        end(&desk);
}

/* A driver that takes the value and goes dark, and one whose file is gone. */
static void test_broken(void)
{
        struct desk desk;
        char path[128];

        make(&desk);
        put_backlight(&desk, "panel", "raw\n", "100\n");
        begin(&desk);
        check_int(light(&desk, true, 50), 0);
        snprintf(path, sizeof(path), "%s/" PANEL "/brightness", desk.dir);
        check_int(unlink(path), 0);
        check(look_again(&desk) < 0);
        check(strstr(desk.said, "cannot be read any more") != NULL);
        check(light(&desk, true, 60) < 0);
        check(strstr(desk.said, "cannot be set to 60") != NULL);
        end(&desk);
}

static void test_switched(void)
{
        struct desk desk;

        make(&desk);
        put_panel(&desk);
        put_program(&desk, program_switching);
        begin(&desk);
        check_text(settings_original(desk.settings, "screen:power"), "on");
        check_int(light(&desk, false, 0), 0);
        check_seen(&desk, false, 0);
        check_text(get(&desk, PANEL "/bl_power"), "0"); /* the screen itself is off, not its light alone */
        check_int(light(&desk, true, 30), 0);
        check_seen(&desk, true, 30);
        check_int(light(&desk, false, 0), 0);
        desk.part->ops->stop(desk.part); /* the program lights it */
        check_seen(&desk, true, 30);
        check_text(desk.said, "");
        end(&desk);
}

/* A program that was killed, or ended by somebody who wants the screen, is started again in the mode's state. */
static void test_lost(void)
{
        struct desk desk;
        int pid;

        make(&desk);
        put_panel(&desk);
        put_program(&desk, program_switching);
        begin(&desk);
        check_int(light(&desk, false, 0), 0);
        check_int(look_again(&desk), 0);
        check_text(desk.said, "");
        pid = atoi(get(&desk, "pid"));
        check(pid > 1 && kill(pid, SIGKILL) == 0);
        put(&desk, CONNECTOR "/dpms", "On\n");
        for (unsigned i = 0; i < 200 && !desk.said[0]; i++) {
                check_int(look_again(&desk), 0);
                usleep(10000);
        }
        check(strstr(desk.said, "the screen was lost") != NULL);
        check(atoi(get(&desk, "pid")) != pid);
        check_seen(&desk, false, 0);
        end(&desk);
}

static void test_cannot_switch(const char *program)
{
        struct desk desk;

        make(&desk);
        put_panel(&desk);
        put_program(&desk, program);
        begin(&desk);
        check_int(light(&desk, true, 40), 0);
        check_seen(&desk, true, 40);
        check_int(light(&desk, false, 0), 0);
        check_text(get(&desk, PANEL "/bl_power"), "4");
        check_int(light(&desk, true, 50), 0);
        check_text(get(&desk, PANEL "/bl_power"), "0");
        check_seen(&desk, true, 50);
        check_text(desk.said, program == program_none
                                      ? "no white picture can be shown on this screen: only brightness is varied"
                                      : "");
        end(&desk);
}

/* A black picture is measured only if it can be shown: a screen that stays white must not give the power of black. */
static void test_pictures(void)
{
        static const double dark[] = { 0, 1, 0.5, 1 };
        struct desk desk;
        struct hardware_description description = { 0 };
        char said[64] = "";
        int pid;

        make(&desk);
        put_panel(&desk);
        put_program(&desk, program_switching);
        begin(&desk);
        check_int(desk.part->ops->describe(desk.part, &description), 0);
        check(description.pictures);
        for (size_t i = 0; i < ARRAY_SIZE(dark); i++) {
                const struct mode mode = { .screen_on = true, .brightness = 40, .dark = dark[i] };

                check_int(desk.part->ops->apply(desk.part, &mode), 0);
                check_seen(&desk, true, 40);
        }
        check(util_read_at(desk.root_fd, "words", said, sizeof(said)) >= 0);
        check_text(said, "on\nblack\ngrey\nblack\n");
        pid = atoi(get(&desk, "pid"));
        check(pid > 1 && kill(pid, SIGKILL) == 0);
        for (unsigned i = 0; i < 200 && !desk.said[0]; i++) {
                check_int(look_again(&desk), 0);
                usleep(10000);
        }
        check(util_read_at(desk.root_fd, "words", said, sizeof(said)) >= 0);
        check_text(said, "on\nblack\ngrey\nblack\nblack\n"); /* it takes the screen again in the same state */
        end(&desk);
}

static void test_no_pictures(const char *program)
{
        const struct mode black = { .screen_on = true, .brightness = 40, .dark = 1 };
        struct desk desk;

        make(&desk);
        put_panel(&desk);
        put_program(&desk, program);
        begin(&desk);
        check_int(desk.part->ops->apply(desk.part, &black), -EOPNOTSUPP); /* left out of the run */
        check(strstr(desk.said, "no black picture can be shown") != NULL);
        check_int(light(&desk, true, 40), 0);
        check_seen(&desk, true, 40);
        end(&desk);
}

/* No way to switch the screen off: it is dimmed as much as possible, and that is reported. */
static void test_dim(void)
{
        struct desk desk;
        char path[128];

        make(&desk);
        put_panel(&desk);
        snprintf(path, sizeof(path), "%s/" PANEL "/bl_power", desk.dir);
        check_int(unlink(path), 0);
        put_program(&desk, program_white);
        begin(&desk);
        check_int(light(&desk, false, 0), 0);
        check_text(get(&desk, PANEL "/brightness"), "1");
        check(strstr(desk.said, "cannot be switched off") != NULL);
        end(&desk);
}

/* A monitor on a cable: there is nothing to measure, but it is off while something else is. */
static void test_no_backlight(void)
{
        struct desk desk;
        struct hardware_description description = { .max_brightness = 9 };

        make(&desk);
        put(&desk, CONNECTOR "/status", "connected\n");
        put(&desk, CONNECTOR "/enabled", "enabled\n");
        put(&desk, CONNECTOR "/dpms", "On\n");
        put_program(&desk, program_switching);
        begin(&desk);
        check_int(desk.part->ops->describe(desk.part, &description), 0);
        check_int(description.max_brightness, 0);
        check(!description.pictures);
        check_int(light(&desk, false, 0), 0);
        check_seen(&desk, false, 0);
        desk.part->ops->stop(desk.part);
        end(&desk);
}

/* A backlight whose panel is no eDP, DSI or LVDS by its connector's name; and one with a monitor on a cable. */
static void test_other_names(void)
{
        struct desk desk;

        make(&desk);
        put_backlight(&desk, "panel", "firmware\n", "10\n");
        put(&desk, "sys/class/drm/card0-Virtual-1/status", "connected\n");
        put(&desk, "sys/class/drm/card0-Virtual-1/enabled", "disabled\n");
        put(&desk, "sys/class/drm/card0-Virtual-1/dpms", "Off\n");
        check_seen(&desk, false, 0);
        put(&desk, "sys/class/drm/card0-Virtual-1/enabled", "enabled\n");
        put(&desk, "sys/class/drm/card0-Virtual-1/dpms", "On\n");
        check_seen(&desk, true, 7);
        put_panel(&desk);
        put(&desk, CONNECTOR "/dpms", "Off\n");
        check_seen(&desk, false, 0); /* whatever the other one shows */
        end(&desk);
}

int main(void)
{
        test_other_names();
        signal(SIGPIPE, SIG_IGN); /* like a calibration */
        test_switched();
        test_lost();
        test_pictures();
        test_no_pictures(program_failing);
        test_no_pictures(program_none);
        test_cannot_switch(program_white);
        test_cannot_switch(program_failing);
        test_cannot_switch(program_none);
        test_dim();
        test_no_backlight();
        test_levels();
        test_somebody_else();
        test_none();
        test_broken();
        return check_result();
}
