/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "picture.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XShm.h>
#include <X11/extensions/Xdamage.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include "util/util.h"

/*
 * Every second pixel of every second row counts, and those of the next such row are shifted. Such a stratified sample
 * is hardly less exact.
 */
#define STEP 2

struct picture {
        Display *x;
        Damage damage;
        int damage_event;
        XImage *image;
        XShmSegmentInfo memory;
        bool attached, dirty;
        double light[256]; /* linear light for each value of an sRGB channel */
};

void picture_free(struct picture *picture)
{
        if (!picture)
                return;
        if (picture->attached)
                XShmDetach(picture->x, &picture->memory);
        if (picture->image) {
                picture->image->data = NULL; /* it does not own this */
                XDestroyImage(picture->image);
        }
        if (picture->memory.shmaddr)
                shmdt(picture->memory.shmaddr);
        if (picture->x)
                XCloseDisplay(picture->x);
        free(picture);
}

/* Makes a shared-memory image of the screen. Its pixels must take 32 bits (24 of them used), as with Xvfb. */
static int share_memory(struct picture *picture)
{
        int screen = DefaultScreen(picture->x);

        if (!XShmQueryExtension(picture->x))
                return -EIO;
        picture->image = XShmCreateImage(picture->x, DefaultVisual(picture->x, screen),
                                         (unsigned)DefaultDepth(picture->x, screen), ZPixmap, NULL,
                                         &picture->memory, (unsigned)DisplayWidth(picture->x, screen),
                                         (unsigned)DisplayHeight(picture->x, screen));
        if (!picture->image || picture->image->bits_per_pixel != 32)
                return -EIO;
        picture->memory.shmid =
                shmget(IPC_PRIVATE, (size_t)picture->image->bytes_per_line * (size_t)picture->image->height,
                       IPC_CREAT | 0600);
        if (picture->memory.shmid < 0)
                return -EIO;
        picture->memory.shmaddr = shmat(picture->memory.shmid, NULL, 0);
        if (picture->memory.shmaddr == (char *)-1)
                picture->memory.shmaddr = NULL;
        else
                picture->attached = XShmAttach(picture->x, &picture->memory) && XSync(picture->x, False);
        picture->image->data = picture->memory.shmaddr;
        shmctl(picture->memory.shmid, IPC_RMID, NULL); /* the segment is freed when its last user detaches */
        return picture->attached ? 0 : -EIO;
}

int picture_new(const char *display, struct picture **ret)
{
        struct picture *picture = calloc(1, sizeof(*picture));
        int error;

        if (!picture)
                return -ENOMEM;
        picture->x = XOpenDisplay(display);
        if (!picture->x || share_memory(picture) < 0 ||
            !XDamageQueryExtension(picture->x, &picture->damage_event, &error)) {
                picture_free(picture);
                return -EIO;
        }
        picture->damage = XDamageCreate(picture->x, DefaultRootWindow(picture->x), XDamageReportNonEmpty);
        XFlush(picture->x);
        picture->dirty = true;
        for (int i = 0; i < 256; i++)
                /* IEC 61966-2-1. */
                picture->light[i] = i <= 10 ? i / 255.0 / 12.92 : pow((i / 255.0 + 0.055) / 1.055, 2.4);
        *ret = picture;
        return 0;
}

/* Values of each channel are counted first, which needs no arithmetic on each pixel. */
static void measure(const struct picture *picture, struct frame_record *ret)
{
        static const int shifts[3] = { 16, 8, 0 };
        const XImage *image = picture->image;
        uint32_t values[3][256];
        uint64_t n = 0;

        memset(values, 0, sizeof(values));
        memset(ret, 0, sizeof(*ret));
        for (int y = 0; y < image->height; y += STEP) {
                const char *row = picture->memory.shmaddr + (ptrdiff_t)y * image->bytes_per_line;

                for (int x = (y / STEP) % STEP; x < image->width; x += STEP, n++) {
                        uint32_t pixel;

                        memcpy(&pixel, row + (ptrdiff_t)x * 4, sizeof(pixel));
                        for (int c = 0; c < 3; c++)
                                values[c][pixel >> shifts[c] & 0xff]++;
                        ret->colours[(pixel >> 12 & 0xf00) | (pixel >> 8 & 0xf0) | (pixel >> 4 & 0xf)]++;
                }
        }
        for (int c = 0; c < 3; c++)
                for (int i = 0; i < 256; i++)
                        ret->light[c] += values[c][i] * picture->light[i] / (double)MAX(n, UINT64_C(1));
}

int picture_look(struct picture *picture, struct frame_record *ret)
{
        while (XPending(picture->x) > 0) {
                XEvent event;

                XNextEvent(picture->x, &event);
                picture->dirty |= event.type == picture->damage_event + XDamageNotify;
        }
        if (!picture->dirty)
                return 0;
        picture->dirty = false;
        /* Before, so that what is drawn meanwhile counts again. */
        XDamageSubtract(picture->x, picture->damage, None, None);
        if (!XShmGetImage(picture->x, DefaultRootWindow(picture->x), picture->image, 0, 0, AllPlanes))
                return -EIO;
        measure(picture, ret);
        return 1;
}
