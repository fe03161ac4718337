/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <string.h>
#include <sys/ioctl.h>

#include "util/util.h"

/* A phone's motion sensor sends events all the time. */
static bool is_sensor(int fd)
{
        unsigned char properties[INPUT_PROP_CNT / 8 + 1] = { 0 };

        if (ioctl(fd, EVIOCGPROP(sizeof(properties)), properties) < 0)
                return false;
        return properties[INPUT_PROP_ACCELEROMETER / 8] & (1 << INPUT_PROP_ACCELEROMETER % 8);
}

static bool is_open(const struct input *input, const char *name)
{
        for (size_t i = 0; i < input->n; i++)
                if (strcmp(input->names[i], name) == 0)
                        return true;
        return false;
}

static void open_device(struct input *input, const char *name)
{
        _cleanup_close_ int fd = -1;

        if (strncmp(name, "event", 5) != 0 || strlen(name) >= sizeof(input->names[0]) ||
            is_open(input, name) || input->n == ARRAY_SIZE(input->devices))
                return;
        fd = openat(input->folder_fd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || is_sensor(fd))
                return;
        snprintf(input->names[input->n], sizeof(input->names[0]), "%s", name);
        input->devices[input->n++] = (struct pollfd){ .fd = take_fd(&fd), .events = POLLIN };
}

static void drop(struct input *input, size_t i)
{
        close(input->devices[i].fd);
        input->n--;
        input->devices[i] = input->devices[input->n];
        memcpy(input->names[i], input->names[input->n], sizeof(input->names[i]));
}

void input_list(struct input *input)
{
        _cleanup_closedir_ DIR *dir = input->folder_fd < 0 ? NULL : util_opendir_at(input->folder_fd, ".");
        struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                open_device(input, entry->d_name);
}

void input_open(int root_fd, struct input *ret)
{
        *ret = (struct input){
                .folder_fd = openat(root_fd, "dev/input", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        };
        input_list(ret);
}

void input_close(struct input *input)
{
        while (input->n > 0)
                drop(input, 0);
        closep(&input->folder_fd);
        input->folder_fd = -1;
}

/*
 * Some firmware sends keys when brightness or the radio change: that is us. Only presses count: a release may
 * belong to the key that started the calibration.
 */
static bool is_touch(const struct input_event *event)
{
        if (event->type == EV_KEY)
                return event->value == 1 && event->code != KEY_BRIGHTNESSUP &&
                       event->code != KEY_BRIGHTNESSDOWN && event->code != KEY_DISPLAY_OFF &&
                       event->code != KEY_WLAN && event->code != KEY_RFKILL;
        return event->type == EV_REL || event->type == EV_ABS || event->type == EV_SW;
}

/* 0: all read; -ENODEV: unplugged. */
static int read_device(int fd, bool *touched)
{
        struct input_event events[64];
        ssize_t n;

        while ((n = read(fd, events, sizeof(events))) > 0)
                for (size_t i = 0; i < (size_t)n / sizeof(events[0]); i++)
                        *touched = *touched || is_touch(&events[i]);
        return n < 0 && errno == ENODEV ? -ENODEV : 0;
}

bool input_touched(struct input *input)
{
        bool touched = false;

        for (size_t i = 0; i < input->n;) {
                if (read_device(input->devices[i].fd, &touched) == 0)
                        i++;
                else
                        drop(input, i);
        }
        return touched;
}
