/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A text console whose card cannot be driven: it cannot show a picture, but can be blanked and lit
 * (ioctl_console(2), TIOCLINUX). A blanked console stays blank until root lights it, so that is done on exit
 * and when restoring.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/kd.h>
#include <linux/tiocl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "picture.h"
#include "util/util.h"

struct console {
        struct picture picture; /* first */
        int fd;
        bool off;
};

static int show(struct picture *picture, int shade)
{
        struct console *console = (struct console *)picture;
        char request = shade == PICTURE_OFF ? TIOCL_BLANKSCREEN : TIOCL_UNBLANKSCREEN;

        console->off = shade == PICTURE_OFF;
        return ioctl(console->fd, TIOCLINUX, &request) < 0 ? -errno : 0;
}

static bool can_switch(const struct picture *picture)
{
        return true;
}

static int fd(const struct picture *picture)
{
        return -1;
}

/* The console may blank itself after a time (consoleblank); lighting it does not change that setting. */
static int dispatch(struct picture *picture)
{
        return ((struct console *)picture)->off ? 0 : show(picture, PICTURE_WHITE);
}

static void close_console(struct picture *picture)
{
        show(picture, PICTURE_WHITE);
        close(((struct console *)picture)->fd);
        free(picture);
}

static int open_console(struct picture **ret)
{
        _cleanup_close_ int tty = open("/dev/tty0", O_RDWR | O_NOCTTY | O_CLOEXEC);
        struct console *console;
        int mode;

        if (tty < 0 || ioctl(tty, KDGETMODE, &mode) < 0)
                return -errno;
        if (mode != KD_TEXT)
                return -EBUSY;
        console = calloc(1, sizeof(*console));
        if (!console)
                return -ENOMEM;
        console->picture.ops = &picture_console;
        console->fd = take_fd(&tty);
        *ret = &console->picture;
        return 0;
}

const struct picture_ops picture_console = {
        .name = "console",
        .open = open_console,
        .can_switch = can_switch,
        .show = show,
        .fd = fd,
        .dispatch = dispatch,
        .close = close_console,
};
