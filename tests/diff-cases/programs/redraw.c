/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A window for five seconds, which shows another number twice a second. With -DWASTE each tick draws it again. */

#include <gtk/gtk.h>

#define TICK_MS 50
#define TICKS 100
#define TICKS_A_NUMBER 10
#define DOTS 200

static GtkWidget *area, *label;

static gboolean draw(GtkWidget *widget, cairo_t *cairo, gpointer data)
{
        int width = gtk_widget_get_allocated_width(widget);

        for (int i = 0; i < DOTS; i++) {
                cairo_set_source_rgb(cairo, (double)i / DOTS, .5, .2);
                cairo_arc(cairo, 10 + i * 3 % width, 10 + i, 20, 0, 2 * G_PI);
                cairo_fill(cairo);
        }
        return FALSE;
}

static gboolean tick(gpointer data)
{
        static int ticks;
        char text[32];

        ticks++;
        if (ticks % TICKS_A_NUMBER == 0) {
                g_snprintf(text, sizeof(text), "%d", ticks);
                gtk_label_set_text(GTK_LABEL(label), text);
                gtk_widget_queue_draw(area);
        }
#ifdef WASTE
        else
                gtk_widget_queue_draw(area);
#endif
        if (ticks == TICKS)
                gtk_main_quit();
        return TRUE;
}

int main(int argc, char **argv)
{
        GtkWidget *window, *box;

        gtk_init(&argc, &argv);
        window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
        box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
        area = gtk_drawing_area_new();
        label = gtk_label_new("0");
        gtk_widget_set_size_request(area, 600, 300);
        gtk_container_add(GTK_CONTAINER(window), box);
        gtk_container_add(GTK_CONTAINER(box), area);
        gtk_container_add(GTK_CONTAINER(box), label);
        g_signal_connect(area, "draw", G_CALLBACK(draw), NULL);
        gtk_widget_show_all(window);
        g_timeout_add(TICK_MS, tick, NULL);
        gtk_main();
        return 0;
}
