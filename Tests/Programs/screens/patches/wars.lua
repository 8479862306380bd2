patch { id = "wars", api = 1 }
delegate { on = "Toolkit.ListView.delegate", call = "list(_:didSelectRowAt:)", event = "list.select", fields = { row = "args.didSelectRowAt.row" } }
delegate { on = "Toolkit.GridView.delegate", call = "grid(_:didSelectItemAt:)", event = "grid.select", fields = { row = "args.didSelectItemAt.row" } }
